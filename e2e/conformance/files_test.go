package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote/remotetest"
)

// disk changes files where a host keeps them.
type disk struct {
	dir string
	// takes tells which names the host has. Others are made all the same: the host must not show them.
	takes func(name string) bool
}

var _ remotetest.Files = disk{}

func (d disk) file(path filehost.Path) string {
	return filepath.Join(append([]string{d.dir}, path.Segments()...)...)
}

func (d disk) made(path filehost.Path, err error) error {
	if err == nil && !d.takes(path.Name()) || errors.Is(err, syscall.ENAMETOOLONG) {
		return remotetest.ErrRefused
	}
	return err
}

// MakeFolder implements remotetest.Files.
func (d disk) MakeFolder(_ context.Context, path filehost.Path) error {
	return d.made(path, os.Mkdir(d.file(path), 0o755))
}

// Write implements remotetest.Files.
func (d disk) Write(_ context.Context, path filehost.Path, content []byte) error {
	return d.made(path, os.WriteFile(d.file(path), content, 0o644))
}

// Remove implements remotetest.Files.
func (d disk) Remove(_ context.Context, path filehost.Path) error { return os.RemoveAll(d.file(path)) }

// doubled changes a double that has MKCOL and PUT, and no DELETE.
func doubled(over dav, on disk) remotetest.Files { return withoutDelete{over, on} }

type withoutDelete struct {
	dav
	disk disk
}

// Remove implements remotetest.Files.
func (w withoutDelete) Remove(ctx context.Context, path filehost.Path) error {
	return w.disk.Remove(ctx, path)
}

// below changes files in the folder at the top that the user's own are in.
type below struct{ files remotetest.Files }

var _ remotetest.Files = below{}

func inside(path filehost.Path) filehost.Path {
	_, rest := path.Top()
	return rest
}

// MakeFolder implements remotetest.Files.
func (b below) MakeFolder(ctx context.Context, path filehost.Path) error {
	return b.files.MakeFolder(ctx, inside(path))
}

// Write implements remotetest.Files.
func (b below) Write(ctx context.Context, path filehost.Path, content []byte) error {
	return b.files.Write(ctx, inside(path), content)
}

// Remove implements remotetest.Files.
func (b below) Remove(ctx context.Context, path filehost.Path) error {
	return b.files.Remove(ctx, inside(path))
}

// onDisk changes a double on its disk alone.
func onDisk(_ dav, on disk) remotetest.Files { return on }

// dav changes files by WebDAV (RFC 4918), as any client of the host would.
type dav struct {
	client     *http.Client
	root       *url.URL // the user's top folder
	credential filehost.Credential
}

var _ remotetest.Files = dav{}

// MakeFolder implements remotetest.Files.
func (d dav) MakeFolder(ctx context.Context, path filehost.Path) error {
	return d.change(ctx, "MKCOL", path.Escaped()+"/", nil)
}

// Write implements remotetest.Files.
func (d dav) Write(ctx context.Context, path filehost.Path, content []byte) error {
	return d.change(ctx, http.MethodPut, path.Escaped(), content)
}

// Remove implements remotetest.Files. nginx wants a folder's address to end in a slash, others don't care.
func (d dav) Remove(ctx context.Context, path filehost.Path) error {
	err := d.change(ctx, http.MethodDelete, path.Escaped()+"/", nil)
	if errors.Is(err, remotetest.ErrRefused) {
		return d.change(ctx, http.MethodDelete, path.Escaped(), nil)
	}
	return err
}

func (d dav) change(ctx context.Context, method, escaped string, content []byte) error {
	address := strings.TrimSuffix(d.root.String(), "/") + escaped
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.SetBasicAuth(d.credential.Username, d.credential.Secret.Reveal())
	response, err := d.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	switch response.StatusCode / 100 {
	case 2:
		return nil
	case 4, 5:
		return fmt.Errorf("%w: %s %s: %s", remotetest.ErrRefused, method, escaped, response.Status)
	default:
		return fmt.Errorf("%s %s: %s", method, escaped, response.Status)
	}
}
