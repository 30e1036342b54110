package command

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Trigger is the command's name.
const Trigger = "filehost"

// Action is the route behind the buttons of answers.
const Action = "command"

// Config is what a Handler works with. All of it is required.
type Config struct {
	Answers filehost.Answers
	// Admit fails with Forbidden for who may not act as the user.
	Admit func(ctx context.Context, userID, sessionID string) error
	Log   *slog.Logger
}

// Handler runs commands. It is safe for concurrent use.
type Handler struct{ Config }

// New returns a handler.
func New(config Config) *Handler { return &Handler{config} }

// subcommand is one line of what the command can do.
type subcommand struct {
	name      string
	arguments string // as the help shows them
	help      string
	paths     paths
	run       func(h *Handler, ctx context.Context, c *call, rest string) (filehost.Message, error)
}

// paths says which arguments of a subcommand can be completed.
type paths int

const (
	none    paths = iota
	folder        // one folder, which is the rest of the line
	several       // files, each in quotes where it has spaces
)

// subcommands is the whole command, in the order in which the help shows them. It is a function as one of them shows them.
func subcommands() []subcommand {
	return []subcommand{
		{"browse", hintFolder, helpBrowse, folder, (*Handler).browse},
		{"search", hintWords, helpSearch, none, (*Handler).search},
		{"recent", "", helpRecent, none, (*Handler).recent},
		{"attach", hintPaths, helpAttach, several, (*Handler).attach},
		{"link", hintLink, helpLink, several, (*Handler).link},
		{"save", hintFolder, helpSave, folder, (*Handler).save},
		{"refresh", hintPost, helpRefresh, none, (*Handler).refresh},
		{"connect", "", helpConnect, none, (*Handler).connect},
		{"disconnect", "", helpDisconnect, none, (*Handler).disconnect},
		{"status", "", helpStatus, none, (*Handler).status},
		{"help", "", helpHelp, none, (*Handler).help},
	}
}

// Line is a subcommand as it is offered while the command is typed.
type Line struct {
	Name, Arguments, Help string
	Completed             bool // its paths are, by Complete
}

// Lines are the subcommands.
func Lines() []Line {
	var lines []Line
	for _, sub := range subcommands() {
		lines = append(lines, Line{sub.name, sub.arguments, sub.help, sub.paths != none})
	}
	return lines
}

// call is a command or a press under way.
type call struct {
	filehost.Place
	service   *filehost.Service
	triggerID string
	nonce     string // tells a press from others; "" = of a typed command
}

// Run carries a command out and shows the user what came of it. service is nil while the plugin is not configured.
func (h *Handler) Run(ctx context.Context, service *filehost.Service, command filehost.Command) {
	c := &call{Place: command.Place, service: service, triggerID: command.TriggerID}
	message := h.answer(ctx, c, func() (filehost.Message, error) {
		if err := h.Admit(ctx, c.UserID, filehost.RequestOf(ctx).SessionID); err != nil {
			return filehost.Message{}, err
		}
		_, rest, _ := strings.Cut(strings.TrimSpace(command.Text), " ")
		name, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
		for _, sub := range subcommands() {
			if sub.name == strings.ToLower(name) || name == "" && sub.name == "help" {
				return sub.run(h, ctx, c, strings.TrimSpace(rest))
			}
		}
		return filehost.Message{Text: unknownCommand(name)}, nil
	})
	if err := h.Answers.Show(ctx, c.Place, message); err != nil {
		h.Log.Warn("The answer to a command could not be shown.", "user_id", c.UserID, "request_id", filehost.RequestOf(ctx).ID, "error", err)
	}
}

// Press carries out what a button or menu of an answer stands for, and shows the outcome in its place.
func (h *Handler) Press(ctx context.Context, service *filehost.Service, press filehost.Press) {
	c := &call{Place: filehost.Place{UserID: press.UserID, ChannelID: press.ChannelID}, service: service, triggerID: press.TriggerID}
	message := h.answer(ctx, c, func() (filehost.Message, error) {
		step, err := c.open(press.Token)
		if err != nil {
			return filehost.Message{}, err
		}
		c.ChannelID, c.RootID, c.nonce = step.ChannelID, step.RootID, step.Nonce
		if step.Menu {
			step.ID = press.Selected
		}
		return h.take(ctx, c, step)
	})
	if err := h.Answers.Replace(ctx, c.Place, press.PostID, message); err != nil {
		h.Log.Warn("The answer to a press could not be shown.", "user_id", c.UserID, "request_id", filehost.RequestOf(ctx).ID, "error", err)
	}
}

// answer is what came of a call, or what to do about its failure. A panic ends the call and not the plugin.
func (h *Handler) answer(ctx context.Context, c *call, work func() (filehost.Message, error)) (message filehost.Message) {
	err := filehost.Recovered(func() (err error) {
		if c.service == nil {
			return filehost.E(filehost.NotConfigured, notConfigured, nil)
		}
		message, err = work()
		return err
	})
	if err == nil {
		return message
	}
	level := slog.LevelDebug
	if filehost.KindOf(err) == filehost.Internal {
		level = slog.LevelError
	}
	h.Log.Log(ctx, level, "A command failed.", "code", filehost.KindOf(err).Code(), "user_id", c.UserID, "request_id", filehost.RequestOf(ctx).ID, "error", err)
	return c.failure(ctx, err)
}

// failure says what went wrong, and offers the next step.
func (c *call) failure(ctx context.Context, err error) filehost.Message {
	var known *filehost.Error
	switch {
	case errors.As(err, &known):
	case errors.Is(err, context.DeadlineExceeded):
		known = filehost.E(filehost.Timeout, tooSlow, nil)
	default:
		return filehost.Message{Text: broken(filehost.RequestOf(ctx).ID)}
	}
	message := filehost.Message{Text: known.Message}
	switch known.Kind {
	case filehost.NotConnected, filehost.CredentialRejected:
		message.Buttons = c.connectButtons()
	case filehost.NotConfigured:
		message.Text += askAdmin
	default:
		if known.RetryAfter > 0 {
			message.Text += retryIn(known.RetryAfter.Round(time.Second))
		}
	}
	return message
}
