package doubles

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// locks are the names that somebody is just writing under.
type locks struct {
	mu   sync.Mutex
	held map[string]bool
}

// take locks a name, or tells that another has it.
func (l *locks) take(name string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[name] {
		return nil, false
	}
	if l.held == nil {
		l.held = map[string]bool{}
	}
	l.held[name] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
	}, true
}

// mtime is when a file that is saved was modified: what the client says in seconds, or now.
func (s *server) mtime(told string) time.Time {
	if seconds, err := strconv.ParseInt(told, 10, 64); err == nil {
		return time.Unix(seconds, 0)
	}
	return s.clock.Now()
}

// hold locks a file that is written, and answers if another request has it.
func (s *sabre) hold(w http.ResponseWriter, user, name string) (leave func(), ok bool) {
	if leave, ok = s.locks.take(user + name); !ok {
		s.fail(w, http.StatusLocked, `OCA\DAV\Connector\Sabre\Exception\FileLocked`, `"`+name[1:]+`" is locked`)
	}
	return leave, ok
}

// uploads serves /remote.php/dav/uploads/{user}/{id}/: chunks, and what they become (apps/dav/lib/Upload).
func (n *Nextcloud) uploads(w http.ResponseWriter, r *http.Request, caller string) {
	owner, name, ok := below(r, davPrefix+"/uploads")
	id, chunk := path.Split(name)
	if !ok || owner != caller {
		n.unknown(w, r)
		return
	}
	id = path.Clean(id)
	if id == "/" { // the folder of an upload itself
		id, chunk = name, ""
	}
	folder := filepath.Join(n.config.Root, ".uploads", caller, filepath.Base(id))
	target, ok := n.destination(r, caller)
	switch {
	case r.Method == http.MethodDelete && chunk == "":
		if _, err := os.Stat(folder); err != nil {
			n.fail(w, http.StatusNotFound, "NotFound", "File with name "+name+" could not be located")
			return
		}
		_ = os.RemoveAll(folder)
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		n.surprise(r, "Destination is "+r.Header.Get("Destination"))
		n.fail(w, http.StatusBadRequest, "BadRequest", "The Destination header is not set")
	case r.Method == "MKCOL" && chunk == "":
		if err := os.MkdirAll(folder, 0o755); err != nil {
			n.fail(w, http.StatusInternalServerError, "ServiceUnavailable", err.Error())
			return
		}
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		n.faults.Serve(w, r, caller, target, func(w http.ResponseWriter, r *http.Request) { n.chunk(w, r, folder, chunk) })
	case r.Method == "MOVE" && chunk == ".file":
		n.faults.Serve(w, r, caller, target, func(w http.ResponseWriter, r *http.Request) { n.assemble(w, r, caller, folder, target) })
	default:
		n.unknown(w, r)
	}
}

// destination reads the header of that name: a path, or a URL.
func (n *Nextcloud) destination(r *http.Request, user string) (name string, ok bool) {
	asked, err := url.Parse(r.Header.Get("Destination"))
	if err != nil {
		return "", false
	}
	owner, name, ok := below(&http.Request{URL: asked}, davPrefix+"/files")
	return name, ok && owner == user
}

// chunk keeps a chunk, which has a number for a name and only the last of which may have less than 5 MB.
func (n *Nextcloud) chunk(w http.ResponseWriter, r *http.Request, folder, name string) {
	number, err := strconv.Atoi(name)
	if err != nil || number < 1 || number > 10000 {
		n.surprise(r, "a chunk is called "+name)
	}
	file, err := os.Create(filepath.Join(folder, name)) //nolint:gosec // a name of the test's
	if err != nil {
		n.fail(w, http.StatusNotFound, "NotFound", "File with name "+name+" could not be located")
		return
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(file, r.Body); err != nil {
		_ = os.Remove(file.Name())
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusCreated)
}

// assemble puts the chunks together where they belong, under the conditions of the destination.
func (n *Nextcloud) assemble(w http.ResponseWriter, r *http.Request, user, folder, target string) {
	leave, ok := n.hold(w, user, target)
	if !ok {
		return
	}
	defer leave()
	there, err := n.disk.find(user, target)
	created := err != nil
	if condition := r.Header.Get("If"); condition != "" && condition != "<"+r.Header.Get("Destination")+"> (["+etagOf(there)+"])" {
		n.fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "An If header was specified, but none of the specified conditions matched.", "<s:header>If</s:header>")
		return
	}
	if !created && r.Header.Get("Overwrite") == "F" {
		n.fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "The destination node already exists, and the overwrite header is set to false", "<s:header>Overwrite</s:header>")
		return
	}
	whole, err := n.join(folder)
	if err != nil {
		n.fail(w, http.StatusInternalServerError, "ServiceUnavailable", err.Error())
		return
	}
	if info, err := os.Stat(whole); err != nil || strconv.FormatInt(info.Size(), 10) != r.Header.Get("OC-Total-Length") {
		n.fail(w, http.StatusBadRequest, "BadRequest", "Chunks on server do not sum up to the announced size")
		return
	}
	at := n.mtime(r.Header.Get("X-OC-Mtime"))
	if err := errors.Join(os.Rename(whole, n.disk.file(user, target)), os.Chtimes(n.disk.file(user, target), at, at), os.RemoveAll(folder)); err != nil {
		n.fail(w, http.StatusInternalServerError, "ServiceUnavailable", err.Error())
		return
	}
	if created {
		w.WriteHeader(http.StatusCreated)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func etagOf(n node) string {
	if n.info == nil {
		return ""
	}
	return sabreETag(n)
}

// join puts the chunks of a folder into one file, beside them.
func (n *Nextcloud) join(folder string) (string, error) {
	chunks, err := os.ReadDir(folder) // by name
	if err != nil {
		return "", err
	}
	whole, err := os.Create(folder + ".whole")
	if err != nil {
		return "", err
	}
	defer func() { _ = whole.Close() }()
	for _, chunk := range chunks {
		file, err := os.Open(filepath.Join(folder, chunk.Name()))
		if err != nil {
			return "", err
		}
		_, err = io.Copy(whole, file)
		_ = file.Close()
		if err != nil {
			return "", err
		}
	}
	return whole.Name(), nil
}
