package filehost_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// echoing is a host whose every error repeats what it was sent.
type echoing struct {
	filehost.Remote
	err error
}

func (e echoing) Stat(context.Context, filehost.Credential, filehost.Path) (filehost.Entry, error) {
	return filehost.Entry{}, e.err
}

func (e echoing) StatID(context.Context, filehost.Credential, string) (filehost.Entry, error) {
	return filehost.Entry{}, e.err
}

func (e echoing) Find(context.Context, filehost.Credential, filehost.Query, func(filehost.Entry) error) (bool, error) {
	return false, e.err
}

func (e echoing) List(context.Context, filehost.Credential, filehost.Path, func(filehost.Entry) error) (filehost.Entry, error) {
	return filehost.Entry{}, e.err
}

func (e echoing) ListPart(context.Context, filehost.Credential, filehost.Path, filehost.Part, filehost.Begin) (filehost.Entry, error) {
	return filehost.Entry{}, e.err
}

func (e echoing) Account(context.Context, filehost.Credential) (string, error) { return "", e.err }

func (e echoing) Open(_ context.Context, _ filehost.Credential, entry filehost.Entry) (filehost.Content, error) {
	if entry.Size == 0 {
		return filehost.Content{}, e.err
	}
	return filehost.Content{ReadCloser: io.NopCloser(io.MultiReader(strings.NewReader("some"), failing{e.err}))}, nil
}

func (e echoing) OpenFrom(ctx context.Context, credential filehost.Credential, entry filehost.Entry, _ int64) (filehost.Content, error) {
	return e.Open(ctx, credential, entry)
}

func (e echoing) Thumbnail(_ context.Context, _ filehost.Credential, _ filehost.Ref, pixels int) (filehost.Thumbnail, error) {
	if pixels == 0 {
		return filehost.Thumbnail{}, e.err
	}
	return filehost.Thumbnail{ReadCloser: io.NopCloser(failing{e.err})}, nil
}

func (e echoing) Write(context.Context, filehost.Credential, filehost.NewFile) (filehost.Entry, error) {
	return filehost.Entry{}, e.err
}

func (e echoing) MakeFolder(context.Context, filehost.Credential, filehost.Path) (filehost.Entry, error) {
	return filehost.Entry{}, e.err
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

func TestAnErrorOfTheHostNeverRepeatsTheCredential(t *testing.T) {
	credential := filehost.Credential{Username: "ann", Secret: filehost.NewSecret("canary-secret")}
	for name, said := range map[string]string{"the secret": "/dav/canary-secret/", "as Basic sends it": "Basic YW5uOmNhbmFyeS1zZWNyZXQ="} {
		t.Run(name, func(t *testing.T) {
			host := filehost.Discreet(echoing{err: filehost.E(filehost.Maintenance, "Down for a while.", errors.New("the host said "+said))})
			var errs []error
			collect := func(_ any, err error) { errs = append(errs, err) }
			collect(host.Stat(t.Context(), credential, filehost.Root))
			collect(host.StatID(t.Context(), credential, "1"))
			collect(host.Find(t.Context(), credential, filehost.Query{}, nil))
			collect(host.List(t.Context(), credential, filehost.Root, nil))
			collect(host.ListPart(t.Context(), credential, filehost.Root, filehost.Part{}, nil))
			collect(host.Account(t.Context(), credential))
			collect(host.Open(t.Context(), credential, filehost.Entry{}))
			collect(host.OpenFrom(t.Context(), credential, filehost.Entry{}, 1))
			collect(host.Thumbnail(t.Context(), credential, filehost.Ref{}, 0))
			collect(host.Write(t.Context(), credential, filehost.NewFile{}))
			collect(host.MakeFolder(t.Context(), credential, filehost.Root))
			content, err := host.Open(t.Context(), credential, filehost.Entry{Size: 4})
			require.NoError(t, err)
			collect(io.ReadAll(content))
			rest, err := host.OpenFrom(t.Context(), credential, filehost.Entry{Size: 4}, 1)
			require.NoError(t, err)
			collect(io.ReadAll(rest))
			thumbnail, err := host.Thumbnail(t.Context(), credential, filehost.Ref{}, 64)
			require.NoError(t, err)
			collect(io.ReadAll(thumbnail))
			for _, err := range errs {
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "canary")
				assert.NotContains(t, err.Error(), "YW5u")
				assert.Equal(t, filehost.Maintenance, filehost.KindOf(err))
				assert.ErrorContains(t, err, "Down for a while")
			}
		})
	}
}

func TestAnErrorThatRepeatsNothingIsLeftAsItIs(t *testing.T) {
	credential := filehost.Credential{Secret: filehost.NewSecret("canary-secret")}
	for _, err := range []error{nil, io.ErrUnexpectedEOF, filehost.E(filehost.NotFound, "There is no such file.", io.EOF)} {
		assert.Equal(t, err, filehost.WithoutCredential(err, credential))
	}
	assert.Equal(t, io.EOF, filehost.WithoutCredential(io.EOF, filehost.Credential{}), "a call without a credential")
	said := filehost.WithoutCredential(errors.New("canary-secret"), credential)
	assert.NotContains(t, said.Error(), "canary")
	said = filehost.WithoutCredential(filehost.E(filehost.Forbidden, "canary-secret is refused.", nil), credential)
	assert.NotContains(t, said.Error(), "canary")
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(said))
}
