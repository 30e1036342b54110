// Command scanner is a Mattermost plugin for tests that stands for a virus scanner: it reads every
// byte of every upload, remembers what it saw, and refuses files that hold a marker.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"net/http"
	"sync"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
)

// marker in a file's content makes the scanner refuse it.
const marker = "FILEHOST-ATTACH-SCANNER-REJECT"

// seen is what the scanner saw of an upload.
type seen struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

type scanner struct {
	plugin.MattermostPlugin
	mu   sync.Mutex
	seen []seen
}

// FileWillBeUploaded reads the whole file and refuses it by saying why.
func (s *scanner) FileWillBeUploaded(_ *plugin.Context, info *model.FileInfo, file io.Reader, _ io.Writer) (*model.FileInfo, string) {
	look := &inspection{sum: sha256.New()}
	size, err := io.Copy(look, file)
	if err != nil {
		return nil, "the scanner could not read the file"
	}
	s.mu.Lock()
	s.seen = append(s.seen, seen{Name: info.Name, Size: size, SHA256: hex.EncodeToString(look.sum.Sum(nil))})
	s.mu.Unlock()
	if look.found {
		return nil, "the scanner refuses this file"
	}
	return nil, ""
}

// ServeHTTP answers with everything seen, oldest first.
func (s *scanner) ServeHTTP(_ *plugin.Context, w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	body, err := json.Marshal(s.seen)
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// inspection hashes a stream and looks for the marker, which may lie across two writes.
type inspection struct {
	sum   hash.Hash
	tail  []byte
	found bool
}

// Write takes the next bytes of the file.
func (i *inspection) Write(p []byte) (int, error) {
	window := append(i.tail, p...)
	i.found = i.found || bytes.Contains(window, []byte(marker))
	i.tail = append(i.tail[:0], window[max(0, len(window)-len(marker)+1):]...)
	return i.sum.Write(p)
}

func main() { plugin.ClientMain(&scanner{}) }
