package mattermost

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked remembers the largest piece that it was asked for.
type asked struct {
	io.Reader
	most int
}

func (a *asked) Read(buffer []byte) (int, error) {
	a.most = max(a.most, len(buffer))
	return a.Reader.Read(buffer)
}

func TestAnUploadIsSentInLargePieces(t *testing.T) {
	s := newSite(t, (*httptest.Server).Start)
	content := bytes.Repeat([]byte("0123456789abcdef"), pieceBytes/4)
	source := &asked{Reader: bytes.NewReader(content)}
	_, err := s.upload(t, source, int64(len(content)))
	require.NoError(t, err)
	assert.Equal(t, pieceBytes, source.most)
	assert.True(t, bytes.Equal(content, s.received), "all of it, and in order")
}
