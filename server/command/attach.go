package command

import (
	"context"
	"errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// attach copies files into the channel, or the thread, in which it is typed.
func (h *Handler) attach(ctx context.Context, c *call, rest string) (filehost.Message, error) {
	names, err := words(rest)
	if err != nil {
		return filehost.Message{}, err
	}
	if len(names) == 0 {
		return h.list(ctx, c, step{ID: filehost.Root.ID()})
	}
	attachment := filehost.Attachment{ChannelID: c.ChannelID, RootID: c.RootID}
	for _, name := range names {
		path, err := readPath(name)
		if err != nil {
			return filehost.Message{}, err
		}
		attachment.Items = append(attachment.Items, filehost.Item{Path: path})
	}
	return c.attached(ctx, attachment)
}

// attachOne copies the file of a button. Pressed twice, it is copied once.
func (h *Handler) attachOne(ctx context.Context, c *call, s step) (filehost.Message, error) {
	ref, err := filehost.ParseRef("id", s.ID)
	if err != nil {
		return filehost.Message{}, err
	}
	return c.attached(ctx, filehost.Attachment{ChannelID: c.ChannelID, RootID: c.RootID, Items: []filehost.Item{{Path: ref.Path, HostID: ref.HostID}},
		IdempotencyKey: "command " + c.nonce})
}

func (c *call) attached(ctx context.Context, attachment filehost.Attachment) (filehost.Message, error) {
	attached, err := c.service.Attach(ctx, c.UserID, attachment)
	if err != nil {
		return filehost.Message{}, c.hinted(err)
	}
	var done, failed []string
	passwords := ""
	for _, item := range attached.Items {
		if item.Err != nil {
			failed = append(failed, notAttached(itemName(item), c.failure(ctx, c.hinted(item.Err)).Text))
			continue
		}
		done = append(done, filehost.Literal(item.Name))
		if !item.Password.IsEmpty() {
			passwords += passwordOf(item.Name, item.Password.Reveal())
		}
	}
	return filehost.Message{Text: outcome(attachment.Link != nil, done, failed) + passwords}, nil
}

// hinted is an error of a path that was typed: one with spaces may have fallen apart.
func (c *call) hinted(err error) error {
	var known *filehost.Error
	if c.nonce != "" || !errors.As(err, &known) || known.Kind != filehost.NotFound {
		return err
	}
	return filehost.E(filehost.NotFound, known.Message+quoteSpaces, err)
}

func itemName(item filehost.AttachedItem) string {
	if item.Path.IsRoot() {
		return item.Name
	}
	return item.Path.String()
}

// file shows one file, and whether it can be attached here.
func (h *Handler) file(ctx context.Context, c *call, s step) (filehost.Message, error) {
	ref, err := filehost.ParseRef("id", s.ID)
	if err != nil {
		return filehost.Message{}, err
	}
	checked, err := c.service.Attach(ctx, c.UserID, filehost.Attachment{ChannelID: c.ChannelID, RootID: c.RootID, DryRun: true,
		Items: []filehost.Item{{Path: ref.Path, HostID: ref.HostID}}})
	if err != nil {
		return filehost.Message{}, err
	}
	item := checked.Items[0]
	message := filehost.Message{Text: icon(filehost.File) + " " + filehost.Literal(itemName(item)) + " · " + filehost.ShownSize(item.Size)}
	back, err := c.button(labelBack, step{Do: doList, ID: item.Path.Parent().ID()})
	if err != nil {
		return message, err
	}
	if item.Err != nil {
		message.Text += "\n" + c.failure(ctx, item.Err).Text
		message.Buttons = []filehost.Button{back}
		return message, nil
	}
	steps := []labelled{{labelAttach, step{Do: doAttach, ID: s.ID}}}
	if s.Internal {
		steps = append(steps, labelled{labelLink, step{Do: doLink, IDs: []string{s.ID}}})
	}
	if s.Public {
		steps = append(steps, labelled{labelPublic, step{Do: doLink, IDs: []string{s.ID}, Public: true}})
	}
	if err = c.addButtons(&message, steps); err != nil {
		return message, err
	}
	message.Buttons = append(message.Buttons, back)
	return message, nil
}
