package mattermost

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/mattermost/mattermost/server/public/plugin"
)

// NewLogger returns a logger that writes to the server's log.
func NewLogger(api plugin.API) *slog.Logger { return slog.New(logHandler{api: api}) }

// logHandler implements slog.Handler. Groups become prefixes of the keys.
type logHandler struct {
	api    plugin.API
	prefix string
	pairs  []any
}

// Enabled implements slog.Handler: the server filters by its own level.
func (h logHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h logHandler) Handle(_ context.Context, record slog.Record) error {
	pairs := slices.Clone(h.pairs)
	record.Attrs(func(attr slog.Attr) bool {
		pairs = append(pairs, h.pair(attr)...)
		return true
	})
	write := h.api.LogDebug
	switch {
	case record.Level >= slog.LevelError:
		write = h.api.LogError
	case record.Level >= slog.LevelWarn:
		write = h.api.LogWarn
	case record.Level >= slog.LevelInfo:
		write = h.api.LogInfo
	}
	write(record.Message, pairs...)
	return nil
}

// pair turns values into strings here: the plugin RPC can't carry every type.
func (h logHandler) pair(attr slog.Attr) []any {
	return []any{h.prefix + attr.Key, fmt.Sprint(attr.Value.Resolve().Any())}
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.pairs = slices.Clone(h.pairs)
	for _, attr := range attrs {
		h.pairs = append(h.pairs, h.pair(attr)...)
	}
	return h
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	h.prefix += name + "."
	return h
}
