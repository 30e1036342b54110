package command

import (
	"context"
	"slices"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// public is the word for links that open for anybody.
const public = "--public"

// link posts links to files or folders. Before it does, the user is told who could open them, unless that is everybody.
func (h *Handler) link(ctx context.Context, c *call, rest string) (filehost.Message, error) {
	names, err := words(rest)
	if err != nil {
		return filehost.Message{}, err
	}
	s := step{Do: doLink, Public: slices.Contains(names, public)}
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return name == public }) {
		path, err := readPath(name)
		if err != nil {
			return filehost.Message{}, err
		}
		s.IDs = append(s.IDs, path.ID())
	}
	if len(s.IDs) == 0 {
		return filehost.Message{}, filehost.Invalid("path", sayWhatToLink)
	}
	return h.linkPosted(ctx, c, s)
}

// linkPosted posts links, or says who could open them and asks.
func (h *Handler) linkPosted(ctx context.Context, c *call, s step) (filehost.Message, error) {
	attachment := filehost.Attachment{ChannelID: c.ChannelID, RootID: c.RootID, Link: &filehost.LinkRequest{Public: s.Public, Permission: filehost.MayView}}
	for _, id := range s.IDs {
		ref, err := filehost.ParseRef("id", id)
		if err != nil {
			return filehost.Message{}, err
		}
		attachment.Items = append(attachment.Items, filehost.Item{Path: ref.Path, HostID: ref.HostID})
	}
	if s.Sure {
		attachment.IdempotencyKey = "command " + c.nonce
		return c.attached(ctx, attachment)
	}
	rehearsal := attachment
	rehearsal.DryRun = true
	would, err := c.service.Attach(ctx, c.UserID, rehearsal)
	if err != nil {
		return filehost.Message{}, err
	}
	var names, failed []string
	for _, item := range would.Items {
		if item.Err != nil {
			failed = append(failed, notAttached(itemName(item), c.failure(ctx, c.hinted(item.Err)).Text))
			continue
		}
		names = append(names, filehost.Literal(item.Name))
	}
	everybody := !would.Audience.More && would.Audience.Counts[filehost.Cannot]+would.Audience.Counts[filehost.Unknown] == 0
	switch {
	case len(names) == 0:
		return filehost.Message{Text: outcome(true, nil, failed)}, nil
	case everybody && !s.Public && c.nonce == "":
		return c.attached(ctx, attachment)
	}
	message := filehost.Message{Text: whoOpens(names, s.Public, would.Audience)}
	if len(failed) > 0 {
		message.Text += "\n" + outcome(true, nil, failed)
	}
	s.Sure = true
	return message, c.addButtons(&message, []labelled{{labelPost, s}})
}
