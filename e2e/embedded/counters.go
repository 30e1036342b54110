package embedded

import (
	"net/http"
	"strings"
)

// count counts a request and passes it on.
func (h *Host) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.counters.Request(r)
		switch {
		case r.URL.Path == TokenPath:
			h.counters.TokenRequests.Add(1)
			if r.PostFormValue("grant_type") == "refresh_token" {
				h.counters.Refreshes.Add(1)
			}
		case r.URL.Path == "/oidc/revoke":
			h.counters.Revocations.Add(1)
		case !strings.HasPrefix(r.URL.Path, "/dav/"):
		case r.Method == "PROPFIND":
			h.counters.Propfinds.Add(1)
		case r.Method == http.MethodGet:
			h.counters.Gets.Add(1)
		}
		next.ServeHTTP(w, r)
	})
}
