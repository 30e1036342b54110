package remote

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func treeAt(t testing.TB, origin, base string) tree {
	t.Helper()
	top, err := decodePath(base)
	require.NoError(t, err)
	return tree{origin: origin, top: top}
}

func TestHrefs(t *testing.T) {
	cases := map[string]struct {
		base, href string
		want       []string // the names from the top folder down
	}{
		"path":                           {"/dav", "/dav/a/b.txt", []string{"a", "b.txt"}},
		"folder":                         {"/dav", "/dav/a/", []string{"a"}},
		"top folder":                     {"/dav", "/dav/", nil},
		"top folder without slash":       {"/dav", "/dav", nil},
		"top of the host":                {"", "/", nil},
		"below the top of the host":      {"", "/a", []string{"a"}},
		"absolute":                       {"/dav", "http://127.0.0.1:8091/dav/a", []string{"a"}},
		"absolute, of another name":      {"/dav", "https://internal:8080/dav/a", []string{"a"}},
		"white space around":             {"/dav", "\n  /dav/a\n ", []string{"a"}},
		"lower-case escapes":             {"/dav", "/dav/%c3%84rger%20%26%20%231%20%2b%25.txt", []string{awkward}},
		"escapes as Apache has them":     {"/dav", "/dav/%c3%84rger%20&%20%231%20+%25.txt", []string{awkward}},
		"plus is a plus":                 {"/dav", "/dav/a+b", []string{"a+b"}},
		"escaped base":                   {"/my%20files", "/my files/a", []string{"a"}},
		"%2F as part of a name":          {"/dav", "/dav/a%252Fb", []string{"a%2Fb"}},
		"raw hash and question mark":     {"/dav", "/dav/a#b?c", []string{"a#b?c"}},
		"decomposed":                     {"/dav", "/dav/A%CC%88", []string{"A\u0308"}},
		"not UTF-8":                      {"/dav", "/dav/%ff%FE", []string{"\xff\xfe"}},
		"trailing dots":                  {"/dav", "/dav/...", []string{"..."}},
		"a backslash":                    {"/dav", "/dav/a%5Cb", []string{`a\b`}},
		"colon, semicolon, at and quote": {"/dav", "/dav/a:b;c@d'e%22", []string{`a:b;c@d'e"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := treeAt(t, "http://127.0.0.1", c.base).path(c.href)
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Segments())
		})
	}
}

func TestHrefsThatAreRefused(t *testing.T) {
	for name, href := range map[string]string{
		"empty":                          "",
		"relative":                       "a.txt",
		"relative, with a colon":         "a:b",
		"absolute without a path":        "http://127.0.0.1",
		"another tree":                   "/other/a",
		"longer name of the tree":        "/davx/a",
		"above":                          "/",
		"dot":                            "/dav/.",
		"way up":                         "/dav/../etc",
		"escaped way up":                 "/dav/%2e%2E/etc",
		"way up by backslash":            `/dav/..\etc`,
		"escaped slash":                  "/dav/a%2Fb",
		"escaped slash in lower case":    "/dav/a%2fb",
		"escaped slash after a raw hash": "/dav/a%2Fb#c",
		"NUL":                            "/dav/a%00b",
		"empty segment":                  "/dav//a",
		"empty segment after a colon":    "/dav/a://b",
		"two slashes at the end":         "/dav/a//",
		"half an escape":                 "/dav/a%2",
		"no escape":                      "/dav/100%zz",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := treeAt(t, "http://127.0.0.1", "/dav").path(href)
			assert.Error(t, err, "%v", got.Segments())
		})
	}
}

func TestFolderFoundWhateverItsForm(t *testing.T) {
	composed, decomposed := path(t, "/\u00c4"), path(t, "/A\u0308")
	inComposed, _ := composed.Join("x")
	cases := map[string]struct {
		entry, folder filehost.Path
		want          relation
	}{
		"itself":                       {composed, composed, self},
		"itself in another form":       {decomposed, composed, self},
		"child":                        {inComposed, composed, child},
		"child of it in another form":  {inComposed, decomposed, child},
		"child of the top":             {composed, filehost.Root, child},
		"grandchild":                   {inComposed, filehost.Root, stranger},
		"parent":                       {filehost.Root, composed, stranger},
		"sibling":                      {path(t, "/B"), composed, stranger},
		"child of a sibling":           {path(t, "/B/x"), composed, stranger},
		"of another case":              {path(t, "/\u00e4"), composed, stranger},
		"of a name with the same head": {path(t, "/\u00c4x"), composed, stranger},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, relate(c.entry, c.folder)) })
	}
}

func FuzzHref(f *testing.F) {
	for _, href := range []string{
		"/dav/", "/dav/a/b.txt", "/dav/%c3%84rger%20%26%20%231%20%2b%25.txt", "http://127.0.0.1:8091/dav/a", "/dav/a%252Fb",
		"/dav/a%2Fb#c", "/dav/%2e%2e/", "/dav/%ff", "dav", "://",
	} {
		f.Add(href)
	}
	tree := treeAt(f, "https://files.example.com", "/dav")
	f.Fuzz(func(t *testing.T, href string) {
		found, err := tree.path(href)
		if err != nil {
			return
		}
		for _, name := range found.Segments() {
			assert.NotContains(t, name, "/")
			assert.NotContains(t, name, "\x00")
			assert.NotContains(t, []string{"", ".", ".."}, name)
		}
		address, err := url.Parse(tree.url(found, false))
		require.NoError(t, err)
		assert.Equal(t, "files.example.com", address.Host)
		again, err := tree.path(address.EscapedPath())
		require.NoError(t, err)
		assert.Equal(t, found, again, "the address of an entry leads back to it")
	})
}

// FuzzHrefs holds the reading of an href that begins like another one to the reading of it alone.
func FuzzHrefs(f *testing.F) {
	long := strings.Repeat("n", maxNameBytes+1)
	for _, pair := range [][2]string{
		{"/dav/a/b", "/dav/a/c"}, {"/dav/a/b", "/dav/a/%C3%84/"}, {"/dav/a", "/dav/%2e%2e"}, {"/dav/a", "/dav/b%2Fc"},
		{"/dav/a", "/dav/%zz"}, {"/dav/a", "/dav/ b \n"}, {"/dav/a", "/dav//"}, {"/dav/a", "/dav/" + long}, {"/dav/", "/dav/a"},
		{" /dav/a", " /dav/b"}, {"http://h/dav/a", "http://h/dav/b"}, {"/other/a", "/other/b"}, {"/\x00", "0"}, {"/d%61v/a", "/d%61v/b"},
		{"/dav" + strings.Repeat("/"+long[:1000], 4) + "/n", "/dav" + strings.Repeat("/"+long[:1000], 4) + "/" + long[:200]},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		tree := treeAt(t, "http://127.0.0.1", "/dav")
		read := hrefs{tree: tree}
		for _, href := range []string{first, second, first} {
			want, wantErr := tree.path(href)
			got, err := read.path(href)
			assert.Equal(t, want, got, "%q", href)
			assert.Equal(t, wantErr == nil, err == nil, "%q: %v, %v", href, wantErr, err)
			assert.Equal(t, errors.Is(wantErr, errTooLong), errors.Is(err, errTooLong), "%q", href)
		}
	})
}
