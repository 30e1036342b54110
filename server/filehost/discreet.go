package filehost

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"
)

// errRepeated stands for an error whose words hold the credential that the host was sent.
var errRepeated = errors.New("what the host answered holds the credential that it was sent")

// Discreet is a file host whose errors never repeat the credential that a call was made with, whatever the host has
// answered: errors cite hosts, and end in logs.
func Discreet(remote Remote) Remote { return discreet{remote} }

type discreet struct{ Remote }

// Stat implements Remote.
func (d discreet) Stat(ctx context.Context, credential Credential, path Path) (Entry, error) {
	entry, err := d.Remote.Stat(ctx, credential, path)
	return entry, WithoutCredential(err, credential)
}

// StatID implements Remote.
func (d discreet) StatID(ctx context.Context, credential Credential, hostID string) (Entry, error) {
	entry, err := d.Remote.StatID(ctx, credential, hostID)
	return entry, WithoutCredential(err, credential)
}

// Find implements Remote.
func (d discreet) Find(ctx context.Context, credential Credential, query Query, each func(Entry) error) (truncated bool, err error) {
	truncated, err = d.Remote.Find(ctx, credential, query, each)
	return truncated, WithoutCredential(err, credential)
}

// List implements Remote.
func (d discreet) List(ctx context.Context, credential Credential, path Path, each func(Entry) error) (Entry, error) {
	entry, err := d.Remote.List(ctx, credential, path, each)
	return entry, WithoutCredential(err, credential)
}

// ListPart implements Remote.
func (d discreet) ListPart(ctx context.Context, credential Credential, path Path, part Part, begin Begin) (Entry, error) {
	entry, err := d.Remote.ListPart(ctx, credential, path, part, begin)
	return entry, WithoutCredential(err, credential)
}

// Open implements Remote.
func (d discreet) Open(ctx context.Context, credential Credential, entry Entry) (Content, error) {
	content, err := d.Remote.Open(ctx, credential, entry)
	if err == nil {
		content.ReadCloser = discreetContent{content.ReadCloser, credential}
	}
	return content, WithoutCredential(err, credential)
}

// OpenFrom implements Remote.
func (d discreet) OpenFrom(ctx context.Context, credential Credential, entry Entry, offset int64) (Content, error) {
	content, err := d.Remote.OpenFrom(ctx, credential, entry, offset)
	if err == nil {
		content.ReadCloser = discreetContent{content.ReadCloser, credential}
	}
	return content, WithoutCredential(err, credential)
}

// Thumbnail implements Thumbnails.
func (d discreet) Thumbnail(ctx context.Context, credential Credential, ref Ref, pixels int) (Thumbnail, error) {
	thumbnail, err := d.Remote.Thumbnail(ctx, credential, ref, pixels)
	if err == nil {
		thumbnail.ReadCloser = discreetContent{thumbnail.ReadCloser, credential}
	}
	return thumbnail, WithoutCredential(err, credential)
}

// Write implements Writes.
func (d discreet) Write(ctx context.Context, credential Credential, file NewFile) (Entry, error) {
	entry, err := d.Remote.Write(ctx, credential, file)
	return entry, WithoutCredential(err, credential)
}

// MakeFolder implements Writes.
func (d discreet) MakeFolder(ctx context.Context, credential Credential, path Path) (Entry, error) {
	entry, err := d.Remote.MakeFolder(ctx, credential, path)
	return entry, WithoutCredential(err, credential)
}

// Account implements Remote.
func (d discreet) Account(ctx context.Context, credential Credential) (string, error) {
	account, err := d.Remote.Account(ctx, credential)
	return account, WithoutCredential(err, credential)
}

// discreetContent is the content of a file that was opened with a credential.
type discreetContent struct {
	io.ReadCloser
	credential Credential
}

// Read implements io.Reader.
func (c discreetContent) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // as io.Reader wants it
		return n, err
	}
	return n, WithoutCredential(err, c.credential)
}

// WithoutCredential returns an error as it is, or in the plugin's own words if it repeats the credential of the call that
// failed: its secret, or how Basic sends it (RFC 7617 2).
func WithoutCredential(err error, credential Credential) error {
	if err == nil || credential.Secret.IsEmpty() {
		return err
	}
	secret := credential.Secret.Reveal()
	basic := base64.StdEncoding.EncodeToString([]byte(credential.Username + ":" + secret))
	text := err.Error()
	if !strings.Contains(text, secret) && !strings.Contains(text, basic) {
		return err
	}
	var known *Error
	if !errors.As(err, &known) || strings.Contains(known.Message, secret) {
		return E(KindOf(err), "The file host gave an answer that makes no sense.", errRepeated)
	}
	blotted := *known
	blotted.Err = errRepeated
	return &blotted
}
