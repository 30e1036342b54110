// Command scanner is a Mattermost plugin for tests that stands for a virus scanner: it reads every
// byte of every upload, remembers what it saw, and refuses files that hold a marker. Posts with a
// marker of their own it holds until it is told to let them go.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
)

// marker in a file's content makes the scanner refuse it.
const marker = "FILEHOST-ATTACH-SCANNER-REJECT"

// holdMarker in a post's message makes the scanner hold it.
const holdMarker = "FILEHOST-ATTACH-SCANNER-HOLD"

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
	held []chan struct{}
}

// MessageWillBePosted holds posts with the marker, as a scanner does that asks somebody first.
func (s *scanner) MessageWillBePosted(_ *plugin.Context, post *model.Post) (*model.Post, string) {
	if strings.Contains(post.Message, holdMarker) {
		released := make(chan struct{})
		s.mu.Lock()
		s.held = append(s.held, released)
		s.mu.Unlock()
		<-released
	}
	return nil, ""
}

// hold tells how many posts are held, and with DELETE lets them go.
func (s *scanner) hold(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := len(s.held)
	if method == http.MethodDelete {
		for _, released := range s.held {
			close(released)
		}
		s.held = nil
	}
	return count
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

// ServeHTTP answers with everything seen, oldest first; below /held, with the number of posts that are
// held; below /forge, with what another plugin says to the same request in the name of a user who never made it;
// below /session, with the token of a session that a plugin has opened for a user.
func (s *scanner) ServeHTTP(_ *plugin.Context, w http.ResponseWriter, r *http.Request) {
	var answer any = s.all()
	switch r.URL.Path {
	case "/forge":
		answer = s.forge(r)
	case "/session":
		answer = s.session(r.URL.Query().Get("user_id"))
	case "/held":
		answer = s.hold(r.Method)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func (s *scanner) all() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// forged is what a forged request met.
type forged struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

func (s *scanner) forge(r *http.Request) forged {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.Query().Get("path"), r.Body)
	if err != nil {
		return forged{Body: err.Error()}
	}
	request.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	request.Header.Set("Mattermost-User-Id", r.URL.Query().Get("user_id"))
	response := s.API.PluginHTTP(request)
	if response == nil {
		return forged{Body: "no answer"}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return forged{Body: err.Error()}
	}
	return forged{Status: response.StatusCode, Body: string(body)}
}

// opened is the token of a session, or what kept it from being opened.
type opened struct {
	Token string `json:"token"`
	Error string `json:"error"`
}

// session opens a session for a user, whatever has become of him.
func (s *scanner) session(userID string) opened {
	session, appErr := s.API.CreateSession(&model.Session{UserId: userID})
	if appErr != nil {
		return opened{Error: appErr.Error()}
	}
	return opened{Token: session.Token}
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
