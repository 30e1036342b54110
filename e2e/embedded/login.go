package embedded

import (
	"html/template"
	"net/http"

	"github.com/zitadel/oidc/v3/pkg/op"
)

var loginPage = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in to Embedded Files</title></head><body>
<h1>Sign in to Embedded Files</h1>
{{with .Problem}}<p role="alert">{{.}}</p>{{end}}
<form method="post">
<input type="hidden" name="request" value="{{.Request}}">
<p><label>User name <input name="username" autocomplete="username" autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
<p><button>Sign in</button></p>
</form></body></html>
`))

type loginForm struct{ Request, Problem string }

// login shows the sign-in form and, once name and password match, sends the browser back to the
// client that asked.
func (h *Host) login(provider op.OpenIDProvider) http.Handler {
	callback := op.AuthCallbackURL(provider)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form := loginForm{Request: r.FormValue("request")}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method == http.MethodPost {
			name, password := r.PostFormValue("username"), r.PostFormValue("password")
			if h.passwordMatches(name, password) && h.storage.signIn(form.Request, name) {
				ctx := op.ContextWithIssuer(r.Context(), h.Issuer())
				http.Redirect(w, r, callback(ctx, form.Request), http.StatusFound)
				return
			}
			form.Problem = "Wrong user name or password, or the request has expired."
			w.WriteHeader(http.StatusUnauthorized)
		}
		_ = loginPage.Execute(w, form)
	})
}
