package command

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// stepLife is how long a button works.
const stepLife = 24 * time.Hour

// do is what a button does.
type do string

const (
	doList    do = "list"
	doFile    do = "file"
	doAttach  do = "attach"
	doLink    do = "link"
	doRefresh do = "refresh"
)

// step is what a button or menu stands for. It is sealed for the user whom it is shown to: whoever may post a message can
// give it a button that calls the plugin as the one who presses it.
type step struct {
	Do        do            `json:"do"`
	ChannelID string        `json:"channel"`
	RootID    string        `json:"root,omitempty"`
	ID        string        `json:"id,omitempty"`  // of an entry, or of a post
	IDs       []string      `json:"ids,omitempty"` // of several entries
	Menu      bool          `json:"menu,omitempty"`
	Internal  bool          `json:"internal,omitempty"` // the host has such links
	Public    bool          `json:"public,omitempty"`   // the host has such links, or the link is to be one
	View      filehost.View `json:"view,omitempty"`
	Text      string        `json:"text,omitempty"`
	Cursor    string        `json:"cursor,omitempty"`
	Sure      bool          `json:"sure,omitempty"` // the user has seen who could open it
	Nonce     string        `json:"nonce"`
	Until     time.Time     `json:"until"`
}

func (c *call) associated() string {
	bound, _ := json.Marshal([]string{"command", c.service.Host.ID, c.UserID}) // strings always marshal
	return string(bound)
}

// button makes a button for a step in the place of the call.
func (c *call) button(label string, s step) (filehost.Button, error) {
	s.ChannelID, s.RootID = c.ChannelID, c.RootID
	s.Nonce, s.Until = rand.Text(), c.service.Clock.Now().Add(stepLife).UTC()
	plain, err := json.Marshal(s)
	if err != nil {
		return filehost.Button{}, err
	}
	token, err := c.service.Sealer.Seal(c.associated(), plain)
	return filehost.Button{Action: Action, Label: label, HostID: c.service.Host.ID, Token: token}, err
}

// labelled is a step as a user sees it.
type labelled struct {
	label string
	step  step
}

func (c *call) addButtons(message *filehost.Message, steps []labelled) error {
	for _, next := range steps {
		button, err := c.button(next.label, next.step)
		if err != nil {
			return err
		}
		message.Buttons = append(message.Buttons, button)
	}
	return nil
}

// open reads what a button stands for.
func (c *call) open(token string) (step, error) {
	var s step
	plain, err := c.service.Sealer.Open(c.associated(), token)
	if err == nil {
		err = json.Unmarshal(plain, &s)
	}
	switch {
	case err != nil:
		return s, filehost.E(filehost.Forbidden, notYourButton, err)
	case c.service.Clock.Now().After(s.Until):
		return s, filehost.E(filehost.Conflict, oldButton, nil)
	}
	return s, nil
}

// take carries a step out.
func (h *Handler) take(ctx context.Context, c *call, s step) (filehost.Message, error) {
	switch s.Do {
	case doList:
		return h.list(ctx, c, s)
	case doFile:
		return h.file(ctx, c, s)
	case doAttach:
		return h.attachOne(ctx, c, s)
	case doLink:
		return h.linkPosted(ctx, c, s)
	case doRefresh:
		return h.refreshPost(ctx, c, s.ID, false)
	}
	return filehost.Message{}, filehost.E(filehost.Forbidden, notYourButton, nil)
}

// connectButtons begin a sign-in, or end one.
func (c *call) connectButtons() []filehost.Button {
	return []filehost.Button{
		{Action: filehost.ActionConnect, Label: labelConnect, HostID: c.service.Host.ID},
		{Action: filehost.ActionCode, Label: labelCode, HostID: c.service.Host.ID},
	}
}
