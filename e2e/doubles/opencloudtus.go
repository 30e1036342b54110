package doubles

import (
	"encoding/base64"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// resumable are uploads by TUS that are under way.
type resumable struct {
	mu  sync.Mutex
	all map[string]*tusUpload // by the token in their addresses
}

// tusUpload is one of them.
type tusUpload struct {
	at          place
	size        int64
	told        string // when the file was modified
	file        string // what has come of it
	replaces    bool
	mu          sync.Mutex
	transferred int64
}

const tusExtensions = "creation,creation-with-upload,checksum,expiration"

func setTUS(header http.Header) {
	header.Set("Tus-Resumable", "1.0.0")
	header.Set("Tus-Extension", tusExtensions)
}

// Secrets implements hosts.Host: who knows the address of an upload can write there.
func (o *OpenCloud) Secrets() []string {
	o.resumable.mu.Lock()
	defer o.resumable.mu.Unlock()
	return slices.AppendSeq(o.server.Secrets(), maps.Keys(o.resumable.all))
}

// createUpload begins an upload (reva's ocdav, tus.go). If-Match is compared with what is there, and with nothing else; 412
// is for a name that the host doesn't take and for a folder that isn't there as well.
func (o *OpenCloud) createUpload(w http.ResponseWriter, r *http.Request, folder place) {
	setTUS(w.Header())
	metadata := map[string]string{}
	for pair := range strings.SplitSeq(r.Header.Get("Upload-Metadata"), ",") {
		key, encoded, _ := strings.Cut(pair, " ")
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			metadata[key] = string(raw)
		}
	}
	size, err := strconv.ParseInt(r.Header.Get("Upload-Length"), 10, 64)
	if r.Header.Get("Tus-Resumable") != "1.0.0" || err != nil || !openCloudTakes(metadata["filename"]) {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	at := place{user: folder.user, path: path.Join(folder.path, metadata["filename"]), root: folder.root}
	there, err := o.disk.find(at.user, at.path)
	switch condition := r.Header.Get("If-Match"); {
	case err == nil && there.isDir():
		w.WriteHeader(http.StatusConflict)
		return
	case err == nil && condition != "" && condition != openCloudETag(there):
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	if parent, parentErr := o.disk.find(at.user, path.Dir(at.path)); parentErr != nil || !parent.isDir() {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	upload := &tusUpload{at: at, size: size, told: metadata["mtime"], replaces: err == nil}
	if size == 0 {
		o.finish(w, upload, nil)
		return
	}
	token := token(64)
	upload.file = filepath.Join(o.config.Root, ".uploads-"+token)
	o.resumable.mu.Lock()
	if o.resumable.all == nil {
		o.resumable.all = map[string]*tusUpload{}
	}
	o.resumable.all[token] = upload
	o.resumable.mu.Unlock()
	w.Header().Set("Location", o.Origin()+"/data/"+token)
	w.WriteHeader(http.StatusCreated)
}

// data serves the address of an upload. Who knows it needs no more.
func (o *OpenCloud) data(w http.ResponseWriter, r *http.Request) {
	setTUS(w.Header())
	o.resumable.mu.Lock()
	upload := o.resumable.all[path.Base(r.URL.Path)]
	o.resumable.mu.Unlock()
	switch {
	case upload == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodHead:
		upload.mu.Lock()
		defer upload.mu.Unlock()
		w.Header().Set("Upload-Length", strconv.FormatInt(upload.size, 10))
		w.Header().Set("Upload-Offset", strconv.FormatInt(upload.transferred, 10))
	case r.Method == http.MethodPatch:
		o.faults.Serve(w, r, upload.at.user, upload.at.path, func(w http.ResponseWriter, r *http.Request) { o.patch(w, r, upload) })
	default:
		o.unknown(w, r)
	}
}

func (o *OpenCloud) patch(w http.ResponseWriter, r *http.Request, upload *tusUpload) {
	upload.mu.Lock()
	defer upload.mu.Unlock()
	const most = 10_000_000 // as its capabilities say
	switch {
	case r.Header.Get("Content-Type") != "application/offset+octet-stream", r.ContentLength > most:
		o.surprise(r, "a part of "+r.Header.Get("Content-Type")+" of "+strconv.FormatInt(r.ContentLength, 10)+" bytes")
		w.WriteHeader(http.StatusBadRequest)
		return
	case r.Header.Get("Upload-Offset") != strconv.FormatInt(upload.transferred, 10):
		w.WriteHeader(http.StatusConflict)
		return
	}
	file, err := os.OpenFile(upload.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	defer func() { _ = file.Close() }()
	came, err := io.Copy(file, r.Body) // what has come of a part that broke off counts
	upload.transferred += came
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Upload-Offset", strconv.FormatInt(upload.transferred, 10))
	if upload.transferred < upload.size {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	content, err := os.ReadFile(upload.file)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	o.finish(w, upload, content)
}

// finish makes the file. One that has come meanwhile is in the way of an upload that found none.
func (o *OpenCloud) finish(w http.ResponseWriter, upload *tusUpload, content []byte) {
	o.resumable.mu.Lock()
	defer o.resumable.mu.Unlock()
	if _, err := o.disk.find(upload.at.user, upload.at.path); err == nil && !upload.replaces {
		w.WriteHeader(http.StatusConflict)
		return
	}
	n, err := o.disk.write(upload.at.user, upload.at.path, content, o.mtime(upload.told))
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	o.keepChecksum(n, content)
	if upload.size == 0 {
		w.WriteHeader(http.StatusCreated)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// mkcol makes a folder. Below a file, the host fails.
func (o *OpenCloud) mkcol(w http.ResponseWriter, at place) {
	parent, err := o.disk.find(at.user, path.Dir(at.path))
	switch {
	case !openCloudTakes(path.Base(at.path)):
		davError(w, http.StatusBadRequest, "BadRequest", "Invalid name")
		return
	case err == nil && !parent.isDir():
		w.WriteHeader(http.StatusInternalServerError)
		return
	case err != nil:
		davError(w, http.StatusConflict, "Conflict", "create container: error: precondition failed: "+path.Base(path.Dir(at.path)))
		return
	}
	switch err = os.Mkdir(o.disk.file(at.user, at.path), 0o755); {
	case err == nil:
		w.WriteHeader(http.StatusCreated)
	case os.IsExist(err):
		davError(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "The resource you tried to create already exists")
	default:
		davError(w, http.StatusInternalServerError, "InternalServerError", fs.ErrInvalid.Error())
	}
}
