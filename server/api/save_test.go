package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	savedFile   = "fileaaaaaaaaaaaaaaaaaaaaaa"
	saveRequest = `{"file_id":"` + savedFile + `","folder":"/Docs"}`
)

// newSaveWorld has a file of Mattermost's and a folder to save it in.
func newSaveWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.mattermost.AddFile(savedFile, "report.pdf", []byte("the report"), alice)
	w.remote.AddFolder("/Docs")
	w.remote.Change("/Docs", func(e *filehost.Entry) { e.Permissions, e.HostID = []filehost.Permission{filehost.Create}, "7" })
	return w
}

func TestSaveTellsTheFileAndWhetherItWasRenamed(t *testing.T) {
	w := newSaveWorld(t)
	byID := `{"file_id":"` + savedFile + `","folder_id":"` + filehost.Ref{HostID: "7"}.ID() + `","conflict":"rename","host":"default"}`
	for _, test := range []struct {
		body, path string
		renamed    bool
	}{
		{saveRequest, "/Docs/report.pdf", false},
		{byID, "/Docs/report (2).pdf", true},
		{`{"file_id":"` + savedFile + `","folder":"/Docs","name":"report.pdf","conflict":"replace"}`, "/Docs/report.pdf", false},
		{`{"file_id":"` + savedFile + `","folder":"/Docs","name":"other.pdf","conflict":"fail"}`, "/Docs/other.pdf", false},
	} {
		recorder := w.call(t, alice, http.MethodPost, "/save", test.body)
		require.Equal(t, http.StatusCreated, recorder.Code, recorder.Body.String())
		var saved savedBody
		require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &saved))
		assert.Equal(t, test.path, saved.Entry.Path)
		assert.Equal(t, int64(10), saved.Entry.Size)
		assert.Equal(t, test.renamed, saved.Renamed)
	}
	f := failureOf(t, w.call(t, alice, http.MethodPost, "/save", `{"file_id":"`+savedFile+`","folder":"/Docs","conflict":"fail"}`))
	assert.Equal(t, "conflict name", f.Code+" "+f.Details.Field)
}

func TestAFolderIsMadeByItsPathOrInAnother(t *testing.T) {
	w := newSaveWorld(t)
	for body, path := range map[string]string{
		`{"path":"/Docs/New/"}`: "/Docs/New", `{"parent_id":"` + filehost.Ref{HostID: "7"}.ID() + `","name":"Other"}`: "/Docs/Other",
	} {
		recorder := w.call(t, alice, http.MethodPost, "/folders", body)
		require.Equal(t, http.StatusCreated, recorder.Code, recorder.Body.String())
		var entry entryBody
		require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &entry))
		assert.Equal(t, path, entry.Path)
		assert.Equal(t, filehost.Folder, entry.Kind)
	}
}

func TestWrongSavesNameTheField(t *testing.T) {
	w := newSaveWorld(t)
	const file = `{"file_id":"` + savedFile + `"`
	for _, test := range []struct{ route, body, want string }{
		{"/save", `{"folder":"/Docs"}`, "invalid_request file_id"},
		{"/save", file + `}`, "invalid_request folder"},
		{"/save", file + `,"folder":"/Docs","folder_id":"pL0RvY3M"}`, "invalid_request folder"},
		{"/save", file + `,"folder":"Docs"}`, "invalid_request folder"},
		{"/save", file + `,"folder":"/a/../b"}`, "invalid_request folder"},
		{"/save", file + `,"folder_id":"nonsense"}`, "invalid_request folder_id"},
		{"/save", file + `,"folder":"/Docs","conflict":"ask"}`, "invalid_request conflict"},
		{"/save", file + `,"folder":"/Docs","conflict":""}`, "invalid_request conflict"},
		{"/save", file + `,"folder":"/Docs","name":"a/b"}`, "invalid_request name"},
		{"/save", file + `,"folder":"/Docs","path":"/"}`, "invalid_request path"},
		{"/save", file + `,"folder":"/Docs","host":"other"}`, "invalid_request host"},
		{"/save", `{"file_id":"other","folder":"/Docs"}`, "not_found "},
		{"/folders", `{}`, "invalid_request path"},
		{"/folders", `{"path":"/"}`, "invalid_request path"},
		{"/folders", `{"path":"/a/.."}`, "invalid_request path"},
		{"/folders", `{"path":"/a","parent_id":"pL0RvY3M","name":"b"}`, "invalid_request path"},
		{"/folders", `{"path":"/a","name":"b"}`, "invalid_request name"},
		{"/folders", `{"parent_id":"pL0RvY3M"}`, "invalid_request name"},
		{"/folders", `{"parent_id":"nonsense","name":"a"}`, "invalid_request parent_id"},
	} {
		f := failureOf(t, w.call(t, alice, http.MethodPost, test.route, test.body))
		assert.Equal(t, test.want, f.Code+" "+f.Details.Field, test.body)
	}
}

func TestRoutesThatKeepNoKeysRefuseThem(t *testing.T) {
	w := newSaveWorld(t)
	for route, body := range map[string]string{"/save": saveRequest, "/folders": `{"path":"/Docs/New"}`} {
		f := failureOf(t, w.call(t, alice, http.MethodPost, route, body, "Idempotency-Key", "one"))
		assert.Equal(t, "unsupported Idempotency-Key", f.Code+" "+f.Details.Field)
	}
	assert.Zero(t, w.remote.Calls())
}
