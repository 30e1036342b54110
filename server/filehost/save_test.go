package filehost_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// saveWorld has a file of Mattermost that alice may read, and a folder that she may fill.
func saveWorld() *world {
	w := newWorld()
	w.mattermost.AddFile("file", "report.pdf", []byte("the report"), alice)
	w.remote.AddFolder("/Docs")
	w.remote.Change("/Docs", func(e *filehost.Entry) { e.Permissions = []filehost.Permission{filehost.Read, filehost.Create} })
	return w
}

func saving(conflict filehost.OnConflict) filehost.Saving {
	return filehost.Saving{FileID: "file", Folder: filehost.Ref{Path: filehosttest.MustPath("/Docs")}, Conflict: conflict}
}

// old adds a file of the same name to the folder.
func (w *world) old(path string) {
	w.remote.AddFile(path, []byte("the old one"), noon)
	w.remote.Change(path, func(e *filehost.Entry) {
		e.Permissions = []filehost.Permission{filehost.Read, filehost.Write}
	})
}

func TestAFileOfMattermostIsSavedAsItIs(t *testing.T) {
	w := saveWorld()
	saved, err := w.Save(t.Context(), alice, saving(filehost.RenameNew))
	require.NoError(t, err)
	assert.Equal(t, "/Docs/report.pdf", saved.Entry.Path.String())
	assert.Equal(t, "text/plain", saved.Entry.MIMEType)
	assert.Equal(t, int64(1_700_000_000), saved.Entry.ModifiedAt.Unix())
	assert.False(t, saved.Renamed)
	assert.Equal(t, "the report", string(w.remote.Content("/Docs/report.pdf")))
	assert.Zero(t, w.mattermost.OpenFiles())

	named := saving(filehost.FailSave)
	named.Name = "Übersicht.pdf"
	saved, err = w.Save(t.Context(), alice, named)
	require.NoError(t, err)
	assert.Equal(t, "/Docs/Übersicht.pdf", saved.Entry.Path.String())
}

func TestAnEmptyFileCanBeSaved(t *testing.T) {
	w := saveWorld()
	w.mattermost.AddFile("file", "empty", nil, alice)
	saved, err := w.Save(t.Context(), alice, saving(filehost.RenameNew))
	require.NoError(t, err)
	assert.Zero(t, saved.Entry.Size)
}

func TestWhatIsNotSaved(t *testing.T) {
	docs := func(change func(*filehost.Entry)) func(*world) {
		return func(w *world) { w.remote.Change("/Docs", change) }
	}
	for name, test := range map[string]struct {
		change func(*world)
		ask    func(*filehost.Saving)
		kind   filehost.Kind
		owner  filehost.LimitOwner
		field  string
		calls  bool // of the host
	}{
		"a file that is not there":      {ask: func(s *filehost.Saving) { s.FileID = "other" }, kind: filehost.NotFound},
		"another's file":                {change: func(w *world) { w.mattermost.AddFile("file", "a", nil, bob) }, kind: filehost.Forbidden},
		"a file above the limit":        {change: func(w *world) { w.Settings.MaxCopyBytes = 9 }, kind: filehost.TooLarge, owner: filehost.OwnerPlugin, field: "file_id"},
		"a folder that is not there":    {ask: func(s *filehost.Saving) { s.Folder.Path = filehosttest.MustPath("/none") }, kind: filehost.NotFound, calls: true},
		"into a file":                   {change: docs(func(e *filehost.Entry) { e.Kind = filehost.File }), kind: filehost.InvalidRequest, field: "folder", calls: true},
		"a folder to look at":           {change: docs(func(e *filehost.Entry) { e.Permissions = []filehost.Permission{filehost.Read, filehost.Write} }), kind: filehost.Forbidden, calls: true},
		"not connected":                 {change: func(w *world) { _ = w.tokens.Disconnect(context.Background(), alice) }, kind: filehost.NotConnected},
		"a name with a slash":           {ask: func(s *filehost.Saving) { s.Name = "a/b" }, kind: filehost.InvalidRequest, field: "name"},
		"a name with a backslash":       {ask: func(s *filehost.Saving) { s.Name = `a\b` }, kind: filehost.InvalidRequest, field: "name"},
		"a name with a NUL":             {ask: func(s *filehost.Saving) { s.Name = "a\x00b" }, kind: filehost.InvalidRequest, field: "name"},
		"a name of one dot":             {ask: func(s *filehost.Saving) { s.Name = "." }, kind: filehost.InvalidRequest, field: "name"},
		"a name of two dots":            {ask: func(s *filehost.Saving) { s.Name = ".." }, kind: filehost.InvalidRequest, field: "name"},
		"a name of spaces":              {ask: func(s *filehost.Saving) { s.Name = " " }, kind: filehost.InvalidRequest, field: "name"},
		"a name that is turned round":   {ask: func(s *filehost.Saving) { s.Name = "invoice\u202efdp.exe" }, kind: filehost.InvalidRequest, field: "name"},
		"a name of two lines":           {ask: func(s *filehost.Saving) { s.Name = "a\nb" }, kind: filehost.InvalidRequest, field: "name"},
		"a name that is not UTF-8":      {ask: func(s *filehost.Saving) { s.Name = "a\xff" }, kind: filehost.InvalidRequest, field: "name"},
		"a name of 256 bytes":           {ask: func(s *filehost.Saving) { s.Name = strings.Repeat("ü", 128) }, kind: filehost.InvalidRequest, field: "name"},
		"over a name that is taken":     {change: func(w *world) { w.old("/Docs/report.pdf") }, ask: func(s *filehost.Saving) { s.Conflict = filehost.FailSave }, kind: filehost.Conflict, field: "name", calls: true},
		"in the place of a folder":      {change: func(w *world) { w.remote.AddFolder("/Docs/report.pdf") }, ask: func(s *filehost.Saving) { s.Conflict = filehost.ReplaceOld }, kind: filehost.Conflict, field: "name", calls: true},
		"over a file that only is read": {change: func(w *world) { w.remote.AddFile("/Docs/report.pdf", nil, noon) }, ask: func(s *filehost.Saving) { s.Conflict = filehost.ReplaceOld }, kind: filehost.Forbidden, calls: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, ask := saveWorld(), saving(filehost.RenameNew)
			w.remote.BeforeWrite(func(filehost.NewFile) { t.Error("a byte moved") })
			if test.change != nil {
				test.change(w)
			}
			if test.ask != nil {
				test.ask(&ask)
			}
			_, err := w.Save(t.Context(), alice, ask)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			assert.Equal(t, test.kind, known.Kind, err)
			assert.Equal(t, test.field, known.Field)
			assert.Equal(t, test.owner, known.LimitOwner)
			assert.Equal(t, test.calls, w.remote.Calls() > 0)
			assert.Zero(t, w.mattermost.OpenFiles())
		})
	}
}

func TestANameThatIsTakenIsCountedOn(t *testing.T) {
	for name, test := range map[string]struct {
		name  string
		there []string
		want  string
	}{
		"a file":                           {"report.pdf", []string{"report.pdf"}, "report (2).pdf"},
		"behind the last":                  {"report.pdf", []string{"report.pdf", "report (2).pdf", "report (7).pdf"}, "report (8).pdf"},
		"not behind those of others":       {"report.pdf", []string{"report.pdf", "report (9).txt", "my report (9).pdf", "report (9)", "report (09).pdf", "report (+9).pdf", "report (9 ).pdf"}, "report (2).pdf"},
		"not behind what can't be counted": {"report.pdf", []string{"report.pdf", "report (2147483647).pdf", "report (-3).pdf"}, "report (2).pdf"},
		"without an extension":             {"README", []string{"README"}, "README (2)"},
		"with a dot in front only":         {".profile", []string{".profile"}, ".profile (2)"},
		"one that is numbered":             {"report (2).pdf", []string{"report (2).pdf"}, "report (2) (2).pdf"},
		"a long one":                       {strings.Repeat("ü", 100) + ".jpeg", []string{strings.Repeat("ü", 100) + ".jpeg"}, strings.Repeat("ü", 100) + " (2).jpeg"},
		"the longest":                      {strings.Repeat("a", 250) + ".jpeg", []string{strings.Repeat("a", 250) + ".jpeg"}, strings.Repeat("a", 237) + " (2).jpeg"},
	} {
		t.Run(name, func(t *testing.T) {
			w, ask := saveWorld(), saving(filehost.RenameNew)
			for _, there := range test.there {
				w.old("/Docs/" + there)
			}
			ask.Name = test.name
			saved, err := w.Save(t.Context(), alice, ask)
			require.NoError(t, err)
			assert.Equal(t, test.want, saved.Entry.Path.Name())
			assert.True(t, saved.Renamed)
			assert.Equal(t, "the report", string(w.remote.Content("/Docs/"+test.want)))
			assert.Equal(t, "the old one", string(w.remote.Content("/Docs/"+test.name)))
		})
	}
}

// come lets somebody else save under each name first, so many times.
func (w *world) come(times int) {
	w.remote.BeforeWrite(func(file filehost.NewFile) {
		if times > 0 {
			times--
			w.old("/Docs/" + file.Name)
		}
	})
}

func TestANameThatIsTakenMeanwhileIsCountedOnToo(t *testing.T) {
	w := saveWorld()
	w.come(3)
	saved, err := w.Save(t.Context(), alice, saving(filehost.RenameNew))
	require.NoError(t, err)
	assert.Equal(t, "report (4).pdf", saved.Entry.Path.Name())
	assert.True(t, saved.Renamed)
	assert.Equal(t, "the report", string(w.remote.Content("/Docs/report (4).pdf")))
	assert.Zero(t, w.mattermost.OpenFiles())

	w = saveWorld()
	w.come(100)
	_, err = w.Save(t.Context(), alice, saving(filehost.RenameNew))
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err), "it ends")
	assert.Zero(t, w.mattermost.OpenFiles())

	w = saveWorld()
	w.come(1)
	_, err = w.Save(t.Context(), alice, saving(filehost.FailSave))
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
	assert.Equal(t, "the old one", string(w.remote.Content("/Docs/report.pdf")))
}

func TestOnlyWhatWasSeenIsReplaced(t *testing.T) {
	w := saveWorld()
	w.old("/Docs/report.pdf")
	saved, err := w.Save(t.Context(), alice, saving(filehost.ReplaceOld))
	require.NoError(t, err)
	assert.False(t, saved.Renamed)
	assert.Equal(t, "the report", string(w.remote.Content("/Docs/report.pdf")))

	w.remote.BeforeWrite(func(filehost.NewFile) {
		w.remote.AddFile("/Docs/report.pdf", []byte("a newer one"), noon.Add(time.Hour))
	})
	w.old("/Docs/report.pdf")
	_, err = w.Save(t.Context(), alice, saving(filehost.ReplaceOld))
	assert.Equal(t, filehost.Changed, filehost.KindOf(err))
	assert.Equal(t, "a newer one", string(w.remote.Content("/Docs/report.pdf")))

	w.remote.BeforeWrite(nil)
	w.remote.Remove("/Docs/report.pdf")
	_, err = w.Save(t.Context(), alice, saving(filehost.ReplaceOld))
	assert.NoError(t, err, "there is nothing to replace")
}

func TestAHostileNameOfMattermostIsMadeFitForAHost(t *testing.T) {
	for name, want := range map[string]string{
		"../../etc/passwd": ".._.._etc_passwd", "a\nb": "a_b", `c:\x`: "c:_x", "..": "file", ".": "file", "": "file", "  ": "file", " a ": "a", "invoice\u202efdp.exe": "invoice_fdp.exe",
	} {
		w := saveWorld()
		w.mattermost.AddFile("file", name, []byte("x"), alice)
		saved, err := w.Save(t.Context(), alice, saving(filehost.RenameNew))
		require.NoError(t, err, name)
		assert.Equal(t, want, saved.Entry.Path.Name(), name)
	}
}

func TestACredentialThatIsRejectedInBetweenCostsNothing(t *testing.T) {
	w := saveWorld()
	tries := 0
	w.remote.BeforeWrite(func(file filehost.NewFile) {
		if tries++; tries == 1 {
			_, _ = io.ReadAll(io.LimitReader(file.Content, 3))
			w.remote.Accept("2")
		}
	})
	_, err := w.Save(t.Context(), alice, saving(filehost.RenameNew))
	require.NoError(t, err)
	assert.Equal(t, 2, tries)
	assert.Equal(t, "the report", string(w.remote.Content("/Docs/report.pdf")), "it is sent from its beginning")
	assert.Zero(t, w.mattermost.OpenFiles())
}

func TestAFileThatChangesWhileItIsSavedIsNotSaved(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world)
		want   filehost.Kind
	}{
		"another size":      {func(w *world) { w.mattermost.AddFile("file", "report.pdf", []byte("another report"), alice) }, filehost.Changed},
		"no longer alice's": {func(w *world) { w.mattermost.AddFile("file", "report.pdf", []byte("the report"), bob) }, filehost.Forbidden},
		"gone":              {func(w *world) { w.mattermost.DeleteFile("file") }, filehost.NotFound},
	} {
		w := saveWorld()
		tries := 0
		w.remote.BeforeWrite(func(file filehost.NewFile) {
			tries++
			_, _ = io.ReadAll(io.LimitReader(file.Content, 3))
			w.remote.Accept("2")
			test.change(w)
		})
		_, err := w.Save(t.Context(), alice, saving(filehost.RenameNew))
		assert.Equal(t, test.want, filehost.KindOf(err), "%s: %v", name, err)
		assert.Equal(t, 1, tries, "%s: nothing is sent anew", name)
		assert.Zero(t, w.mattermost.OpenFiles())
	}
}

func TestTheLongestNameIsTold(t *testing.T) {
	w, ask := saveWorld(), saving(filehost.RenameNew)
	ask.Name = strings.Repeat("n", 256)
	_, err := w.Save(t.Context(), alice, ask)
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, int64(255), known.Limit)
}

func TestSavesTakeThePlacesOfCopies(t *testing.T) {
	w := saveWorld()
	var err error
	w.remote.BeforeWrite(func(filehost.NewFile) {
		w.remote.BeforeWrite(nil)
		_, err = w.Save(t.Context(), alice, saving(filehost.RenameNew))
	})
	_, first := w.Save(t.Context(), alice, saving(filehost.RenameNew))
	require.NoError(t, first)
	assert.Equal(t, filehost.RateLimited, filehost.KindOf(err))
}

func TestAFolderIsMade(t *testing.T) {
	w := saveWorld()
	entry, err := w.MakeFolder(t.Context(), alice, filehost.NewFolder{Parent: filehost.Ref{Path: filehosttest.MustPath("/Docs")}, Name: "New"})
	require.NoError(t, err)
	assert.Equal(t, "/Docs/New", entry.Path.String())
	assert.Equal(t, filehost.Folder, entry.Kind)
	for name, test := range map[string]struct {
		folder filehost.NewFolder
		want   filehost.Kind
	}{
		"again":         {filehost.NewFolder{Parent: filehost.Ref{Path: filehosttest.MustPath("/Docs")}, Name: "New"}, filehost.Conflict},
		"in none":       {filehost.NewFolder{Parent: filehost.Ref{Path: filehosttest.MustPath("/none")}, Name: "New"}, filehost.NotFound},
		"to look at":    {filehost.NewFolder{Name: "New"}, filehost.Forbidden},
		"without name":  {filehost.NewFolder{Parent: filehost.Ref{Path: filehosttest.MustPath("/Docs")}}, filehost.InvalidRequest},
		"a hidden name": {filehost.NewFolder{Parent: filehost.Ref{Path: filehosttest.MustPath("/Docs")}, Name: "a\u200bb"}, filehost.InvalidRequest},
	} {
		_, err := w.MakeFolder(t.Context(), alice, test.folder)
		assert.Equal(t, test.want, filehost.KindOf(err), "%s: %v", name, err)
	}
}

func TestWhatIsSavedByAccessThatIsNotTheUsersOwnIsInTheAuditLog(t *testing.T) {
	for name, test := range map[string]struct {
		action filehost.AuditAction
		use    func(*world) error
	}{
		"a file": {filehost.AuditSave, func(w *world) error { _, err := w.Save(t.Context(), alice, saving(filehost.RenameNew)); return err }},
		"a folder": {filehost.AuditMakeFolder, func(w *world) error {
			_, err := w.MakeFolder(t.Context(), alice, filehost.NewFolder{Parent: filehost.Ref{Path: filehosttest.MustPath("/Docs")}, Name: "New"})
			return err
		}},
	} {
		w := saveWorld()
		w.tokens.Grant, w.tokens.Account = "service_account", "shared"
		require.NoError(t, test.use(w), name)
		assert.Equal(t, []filehost.AuditEvent{usedBy(alice, test.action, filehost.AuditAttempt, "/Docs"), usedBy(alice, test.action, filehost.AuditSuccess, "/Docs")}, w.audit.Events())
		w = saveWorld()
		w.tokens.Grant, w.tokens.Account = "service_account", "shared"
		w.audit.Refuse(errors.New("full"))
		require.Error(t, test.use(w), name)
		assert.Zero(t, w.remote.Calls(), "nothing goes to the host that the log doesn't take")
	}
}
