package remotetest

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// thumbnails: an image of an image comes as one, whole, and nothing else does.
func (s *suite) thumbnails() {
	picture := s.at("wide & ä+.png")
	s.write(picture, drawing(color.White))
	entry := s.stat(picture)
	if !s.remote.Capabilities(s.Context(), s.host.Credential).Thumbnails {
		_, err := s.remote.Thumbnail(s.Context(), s.host.Credential, filehost.Ref{Path: picture}, 64)
		s.wantKind(filehost.Unsupported, err)
		s.limit("has a thumbnail", false, entry.Thumbnail)
		return
	}
	assert.True(s, entry.Thumbnail)
	refs := []filehost.Ref{{Path: picture}}
	if entry.HostID != "" {
		refs = append(refs, filehost.Ref{HostID: entry.HostID})
	}
	for _, ref := range refs {
		small := s.thumbnail(ref)
		size := small.Bounds().Size()
		assert.InDelta(s, 2, float64(size.X)/float64(size.Y), 0.1, "its proportions: %v", size)
		s.limit("fits into the square", true, size.X <= 64)
		assert.Equal(s, color.White.Y, color.Gray16Model.Convert(small.At(1, 1)).(color.Gray16).Y) //nolint:forcetypeassert,errcheck // the model's own
	}
	s.write(picture, drawing(color.Black))
	assert.Equal(s, color.Black.Y, color.Gray16Model.Convert(s.thumbnail(refs[0]).At(1, 1)).(color.Gray16).Y) //nolint:forcetypeassert,errcheck // the model's own
	s.noThumbnails()
}

// noThumbnails: what is no image has none, and says why.
func (s *suite) noThumbnails() {
	const page, program = "<!doctype html><script>alert(1)</script>", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`
	for name, content := range map[string]string{"page.html": page, "page.png": page, "drawing.svg": program, "drawing.png": program} {
		s.write(s.at(name), content)
		s.wantKind(filehost.Unsupported, s.thumbnailError(s.at(name)), name)
	}
	assert.False(s, s.stat(s.at("page.html")).Thumbnail)
	folder := s.folder(s.at("folder"))
	assert.False(s, s.stat(folder).Thumbnail)
	s.wantKind(filehost.InvalidRequest, s.thumbnailError(folder))
	s.wantKind(filehost.NotFound, s.thumbnailError(s.at("gone.png")))
}

func (s *suite) thumbnailError(path filehost.Path) error {
	thumbnail, err := s.remote.Thumbnail(s.Context(), s.host.Credential, filehost.Ref{Path: path}, 64)
	if err == nil {
		assert.NoError(s, thumbnail.Close())
	}
	return err
}

func (s *suite) thumbnail(ref filehost.Ref) image.Image {
	s.Helper()
	thumbnail, err := s.remote.Thumbnail(s.Context(), s.host.Credential, ref, 64)
	require.NoError(s, err)
	raw, err := io.ReadAll(thumbnail)
	require.NoError(s, err)
	assert.NoError(s, thumbnail.Close())
	small, kind, err := image.Decode(bytes.NewReader(raw))
	require.NoError(s, err)
	assert.Equal(s, "image/"+kind, thumbnail.MIMEType)
	return small
}

// drawing is an image of 400 by 200 pixels, all of one colour.
func drawing(shade color.Gray16) string {
	plain := image.NewGray16(image.Rect(0, 0, 400, 200))
	draw.Draw(plain, plain.Rect, image.NewUniform(shade), image.Point{}, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, plain); err != nil {
		panic(err) // a buffer takes everything
	}
	return out.String()
}
