package remote

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Nextcloud takes a file in chunks of 5 MB to 5 GB, but for the last, and of these at most 10,000 (its developer manual,
// “Chunked file upload”).
const (
	chunkBytes = 20 << 20
	mostChunks = 10_000
)

// assemblyPatience is how long a host may put the chunks of a file together before it answers.
const assemblyPatience = 2 * time.Minute

// temporaryName names what is there until a file is whole, in the way of no other.
func temporaryName() string { return ".filehost-attach-" + rand.Text() + ".tmp" }

// inChunks saves by Nextcloud's chunked upload, version 2: into a folder of its own, which is moved to the file's place.
func (s *saving) inChunks(ctx context.Context) (err error) {
	uploads, err := within([]string{"remote.php", "dav", "uploads", s.credential.Account, temporaryName()})
	if err != nil {
		return err
	}
	folder := s.host.Origin() + s.below(uploads).Escaped()
	header := map[string]string{"Destination": s.destination(), "OC-Total-Length": strconv.FormatInt(s.file.Size, 10)}
	if err = s.exchange(ctx, call{method: "MKCOL", url: folder, header: header}); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.remove(ctx, folder)
		}
	}()
	size := max(chunkBytes, (s.file.Size+mostChunks-1)/mostChunks)
	for number := 1; s.source.rest() > 0; number++ {
		chunk := &part{source: s.source, size: min(size, s.source.rest())}
		if err = s.exchange(ctx, call{method: http.MethodPut, url: folder + fmt.Sprintf("/%05d", number), header: header, content: chunk}); err != nil {
			return err
		}
	}
	return s.assemble(ctx, folder, header)
}

// assemble has the chunks put together. When the answer was lost, it looks for the file before it asks once more.
func (s *saving) assemble(ctx context.Context, folder string, header map[string]string) error {
	header["Overwrite"] = s.overwrite()
	if s.file.Replaces != nil { // RFC 4918 10.4, about the destination
		header["If"] = "<" + s.destination() + "> ([" + s.file.Replaces.ETag + "])"
	}
	s.dated(header)
	move := call{method: "MOVE", url: folder + "/.file", header: header, patience: assemblyPatience}
	err := s.exchange(ctx, move)
	if !lost(err) {
		return err
	}
	if _, arrived := s.arrived(ctx, err); arrived {
		return nil
	}
	if again := s.exchange(ctx, move); again == nil {
		return nil
	}
	return err // of the first, which is why
}
