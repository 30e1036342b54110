package command

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestPathsAreCompletedAsTheyAreTyped(t *testing.T) {
	w := newWorld()
	w.remote.AddFolder("/Reports")
	w.remote.AddFolder("/My Docs")
	w.remote.AddFile("/reserve.txt", []byte("1"), noon)
	w.remote.AddFile("/My Docs/a b.txt", []byte("1"), noon)
	w.remote.AddFile("/My Docs/quo\"te.txt", []byte("1"), noon)
	w.remote.AddFile("/My Docs/turned\u202e.txt", []byte("1"), noon)
	for input, want := range map[string][]string{
		"filehost attach ":                        {`"/My Docs/`, "/Reports/", "/reserve.txt"},
		"/filehost attach /re":                    {"/Reports/", "/reserve.txt"},
		"filehost attach re":                      {"Reports/", "reserve.txt"},
		`filehost attach "/my`:                    {`"/My Docs/`},
		`filehost attach "/My Docs/`:              {`"/My Docs/a b.txt"`},
		"filehost attach “/My Docs/A":             {"“/My Docs/a b.txt”"},
		"filehost attach /My":                     nil,
		`filehost attach /reserve.txt "/My D`:     {`/reserve.txt "/My Docs/`},
		`filehost attach "/My Docs/a b.txt" /res`: {`"/My Docs/a b.txt" /reserve.txt`},
		"filehost browse ":                        {"/My Docs/", "/Reports/"},
		"filehost browse /My D":                   {"/My Docs/"},
		"filehost browse /My Docs/":               nil,
		"filehost attach /nowhere/x":              nil,
		"filehost search re":                      nil,
		"filehost":                                nil,
		"":                                        nil,
	} {
		suggestions, err := w.Complete(t.Context(), w.service, alice, input)
		if input != "filehost attach /nowhere/x" {
			require.NoError(t, err, input)
		}
		var texts []string
		for _, suggestion := range suggestions {
			texts = append(texts, suggestion.Text)
		}
		assert.Equal(t, want, texts, input)
	}
	_, err := w.Complete(t.Context(), w.service, "new", "filehost attach ")
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
	_, err = w.Complete(t.Context(), w.service, alice, "filehost attach /../")
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))
}

func TestOnlySoManyPathsAreOffered(t *testing.T) {
	w := newWorld()
	for i := range 2 * maxSuggestions {
		w.remote.AddFile("/"+string(rune('A'+i)), []byte("1"), noon)
	}
	suggestions, err := w.Complete(t.Context(), w.service, alice, "filehost attach ")
	require.NoError(t, err)
	assert.Len(t, suggestions, maxSuggestions)
}

func FuzzWhatIsTypedIsCompletedOrNot(f *testing.F) {
	for _, seed := range []string{`attach "/a`, "browse “", "attach «a» b", "attach \"\"\"", "browse //"} {
		f.Add(seed)
	}
	w := newWorld()
	w.remote.AddFile("/a b", []byte("1"), noon)
	f.Fuzz(func(t *testing.T, input string) {
		_, _ = w.Complete(t.Context(), w.service, alice, "filehost "+input)
		_, _ = words(input)
		unquote(input)
	})
}
