package doubles

import (
	"html/template"
	"net/http"
	"net/url"
)

// signInPage asks who signs in, and with that for what the client may do.
var signInPage = template.Must(template.New("sign-in").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Log in</title></head><body>
{{with .Problem}}<p role="alert">{{.}}</p>{{end}}
<form method="post">
{{range $name, $values := .Kept}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}<p><label>Account name <input name="user" autocomplete="username"></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
<p><button>Grant access</button></p>
</form></body></html>
`))

// signIn shows the page, and goes on with grant once somebody has filled it. What the client asked
// for travels in the page.
func (s *server) signIn(w http.ResponseWriter, r *http.Request, grant func(user string, asked url.Values)) {
	page := struct {
		Kept    url.Values
		Problem string
	}{Kept: r.URL.Query()}
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodPost {
		user := r.PostFormValue("user")
		if s.passwordMatches(user, r.PostFormValue("password")) && !s.isDisabled(user) {
			grant(user, r.PostForm)
			return
		}
		page.Problem = "Wrong login or password."
	}
	_ = signInPage.Execute(w, page)
}
