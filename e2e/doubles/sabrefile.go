package doubles

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// get serves a file, and a page for a folder.
func (s *sabre) get(w http.ResponseWriter, r *http.Request, user, name string) {
	n, err := s.disk.find(user, name)
	if err != nil && !s.conditionsHold(w, r, node{}, true) {
		return // what is not there matches nothing
	}
	if err != nil {
		s.notFound(w, user, name)
		return
	}
	if n.isDir() {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		begin(w, http.StatusOK)
		_, _ = io.WriteString(w, "This is the WebDAV interface. It can only be accessed by WebDAV clients such as the Nextcloud desktop sync client.")
		return
	}
	if s.previews && asksPreview(r) {
		s.filePreview(w, r, n)
		return
	}
	header := w.Header()
	if !s.conditionsHold(w, r, n, true) {
		return
	}
	header.Set("ETag", sabreETag(n))
	header.Set("Last-Modified", n.modified("GMT"))
	first, last, partial, err := s.ranged(r, n)
	if err != nil {
		s.fail(w, http.StatusRequestedRangeNotSatisfiable, "RequestedRangeNotSatisfiable", err.Error())
		return
	}
	s.describe(header, n)
	header.Set("Content-Length", strconv.FormatInt(last-first+1, 10))
	status := http.StatusOK
	if partial {
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, n.info.Size()))
		status = http.StatusPartialContent
	}
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		s.send(w, n, first, last-first+1)
	}
}

// send writes a part of a file. What breaks off breaks the answer off too.
func (s *server) send(w io.Writer, n node, offset, length int64) {
	file, err := os.Open(s.disk.file(n.user, n.path))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(w, io.NewSectionReader(file, offset, length)); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// conditionsHold checks If-Match and If-None-Match (RFC 9110 13.1), and answers if one fails.
func (s *sabre) conditionsHold(w http.ResponseWriter, r *http.Request, n node, read bool) bool {
	there := n.info != nil
	etag := ""
	if there {
		etag = sabreETag(n)
	}
	if header := r.Header.Get("If-Match"); header != "" && (!there || !matches(header, etag)) {
		message := "An If-Match header was specified and the resource did not exist"
		if there {
			w.Header().Set("ETag", etag)
			message = "An If-Match header was specified, but none of the specified ETags matched."
		}
		s.fail(w, http.StatusPreconditionFailed, "PreconditionFailed", message, "<s:header>If-Match</s:header>")
		return false
	}
	header := r.Header.Get("If-None-Match")
	if header == "" || !there || !matches(header, etag) {
		return true
	}
	if read {
		w.Header().Set("ETag", etag)
		w.WriteHeader(http.StatusNotModified)
		return false
	}
	s.fail(w, http.StatusPreconditionFailed, "PreconditionFailed",
		"An If-None-Match header was specified, but the ETag matched (or * was specified).", "<s:header>If-None-Match</s:header>")
	return false
}

func matches(header, etag string) bool {
	for each := range strings.SplitSeq(header, ",") {
		if each = strings.TrimSpace(each); each == "*" || each == etag {
			return true
		}
	}
	return false
}

// ranged reads Range and If-Range as the library does: of several ranges, or with a condition that
// fails, it takes none, and gives the whole file.
func (s *sabre) ranged(r *http.Request, n node) (first, last int64, partial bool, err error) {
	size := n.info.Size()
	whole := func() (int64, int64, bool, error) { return 0, size - 1, false, nil }
	from, to, ok := oneRange(r.Header.Get("Range"))
	if condition := r.Header.Get("If-Range"); !ok || condition != "" && condition != sabreETag(n) {
		return whole()
	}
	if from == "" { // the last so many bytes
		length, err := strconv.ParseInt(to, 10, 64)
		if err != nil {
			return whole()
		}
		return max(0, size-length), size - 1, true, nil
	}
	if first, err = strconv.ParseInt(from, 10, 64); err != nil {
		return whole()
	}
	if first >= size {
		return 0, 0, false, fmt.Errorf("The start offset (%d) exceeded the size of the entity (%d)", first, size) //nolint:revive,staticcheck // the library's words
	}
	last = size - 1
	if end, err := strconv.ParseInt(to, 10, 64); err == nil {
		last = min(last, end)
	}
	return first, last, true, nil
}

// oneRange takes a Range of bytes apart that is only one (RFC 9110 14.1.2).
func oneRange(header string) (from, to string, ok bool) {
	spec, ok := strings.CutPrefix(header, "bytes=")
	if !ok || strings.Contains(spec, ",") {
		return "", "", false
	}
	return strings.Cut(spec, "-")
}

// put makes or replaces a file.
func (s *sabre) put(w http.ResponseWriter, r *http.Request, user, name string) {
	if !s.disk.takesAll(name) {
		s.badName(w, path.Base(name))
		return
	}
	leave, ok := s.hold(w, user, name)
	if !ok {
		return
	}
	defer leave()
	n, err := s.disk.find(user, name)
	created := err != nil
	if !s.conditionsHold(w, r, n, false) {
		return
	}
	if parent, err := s.disk.find(user, path.Dir(name)); err != nil || !parent.isDir() {
		if s.missingParent == http.StatusConflict {
			s.fail(w, http.StatusConflict, "Conflict", "Files cannot be created in non-existent collections")
			return
		}
		s.notFound(w, user, path.Dir(name))
		return
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if n, err = s.disk.write(user, name, content, s.mtime(r.Header.Get("X-OC-Mtime"))); err != nil {
		s.fail(w, http.StatusInternalServerError, "ServiceUnavailable", err.Error())
		return
	}
	s.keepChecksum(n, content)
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=UTF-8")
	header.Set("Content-Length", "0")
	header.Set("OC-FileId", longID(n))
	header.Set("ETag", sabreETag(n))
	header.Set("OC-ETag", sabreETag(n))
	if created {
		w.WriteHeader(http.StatusCreated)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// badName says what is wrong with a name that the host doesn't take.
func (s *sabre) badName(w http.ResponseWriter, name string) {
	lower := strings.ToLower(name)
	message := "Filename contains at least one invalid character"
	switch {
	case strings.Contains(name, `\`):
		message = `"\" is not allowed inside a file or folder name.`
	case lower == ".htaccess":
		message = "Filename is a reserved word"
	case strings.HasSuffix(lower, ".part"), strings.HasSuffix(lower, ".filepart"):
		message = `"` + path.Ext(lower) + `" is a forbidden file type.`
	case len(name) > 250:
		message = "Filename is too long"
	}
	s.fail(w, http.StatusBadRequest, `OCA\DAV\Connector\Sabre\Exception\InvalidPath`, message)
}

// mkcol makes a folder.
func (s *sabre) mkcol(w http.ResponseWriter, user, name string) {
	if !s.disk.takesAll(name) {
		s.badName(w, path.Base(name))
		return
	}
	err := os.Mkdir(s.disk.file(user, name), 0o755)
	switch {
	case errors.Is(err, os.ErrExist):
		w.Header().Set("Allow", s.allow)
		s.fail(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "The resource you tried to create already exists")
		return
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		s.fail(w, http.StatusConflict, "Conflict", "Parent node does not exist")
		return
	case err != nil:
		s.fail(w, http.StatusInternalServerError, "ServiceUnavailable", err.Error())
		return
	}
	n, err := s.disk.find(user, name)
	if err != nil {
		s.notFound(w, user, name)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=UTF-8")
	header.Set("Content-Length", "0")
	header.Set("OC-FileId", longID(n))
	w.WriteHeader(http.StatusCreated)
}
