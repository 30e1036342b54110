package doubles

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	paginate       = "X-NC-Paginate"
	paginateToken  = "X-NC-Paginate-Token"
	paginateOffset = "X-NC-Paginate-Offset"
	paginateCount  = "X-NC-Paginate-Count"
	paginateTotal  = "X-NC-Paginate-Total"

	paginateDefault = 100
	paginateLife    = time.Hour
)

// pages keeps the answers that clients read page by page (Nextcloud's apps/dav/lib/Paginate). An
// answer is kept as it was written, so that what changes meanwhile changes no page.
type pages struct {
	clock clockwork.Clock

	mu   sync.Mutex
	kept map[string]page // by address and token; nil = nothing is kept
}

// forget ends what is kept, and keeps nothing from now on.
func (p *pages) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = nil
}

type page struct {
	entries []string
	at      time.Time
}

func (p *pages) keep(address string, entries []string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh := token(32)
	if p.kept != nil {
		p.kept[address+" "+fresh] = page{entries, p.clock.Now()}
	}
	return fresh
}

func (p *pages) find(address, token string) ([]string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, ok := p.kept[address+" "+token]
	return kept.entries, ok && p.clock.Since(kept.at) < paginateLife
}

// replyPage answers with all entries, or with a page of them to who asks for pages. A token that is
// not known any more makes it begin again, with a token of its own.
func (n *Nextcloud) replyPage(w http.ResponseWriter, r *http.Request, entries []string) {
	header := r.Header
	offset, count := number(header.Get(paginateOffset), 0), number(header.Get(paginateCount), paginateDefault)
	address := r.URL.EscapedPath()
	switch kept, known := n.pages.find(address, header.Get(paginateToken)); {
	case known && header.Get(paginateToken) != "" && header.Get(paginateOffset) != "":
		// What is kept is sent before the library is asked for anything.
		w.Header().Del("DAV")
		w.Header().Set(paginate, "true")
		n.multistatus(w, cut(kept, offset, count))
	case header.Get(paginate) == "":
		n.multistatus(w, entries)
	default:
		w.Header().Set(paginate, "true")
		w.Header().Set(paginateToken, n.pages.keep(address, entries))
		w.Header().Set(paginateTotal, strconv.Itoa(len(entries)))
		n.multistatus(w, cut(entries, offset, count))
	}
}

func cut(entries []string, offset, count int) []string {
	offset = min(offset, len(entries))
	return entries[offset:min(offset+count, len(entries))]
}

// number reads a header as PHP does: what is no number, or zero, is the default.
func number(header string, otherwise int) int {
	n, err := strconv.Atoi(header)
	if err != nil || n <= 0 {
		return otherwise
	}
	return n
}
