// Package proofs holds the documentation to the tests that it names.
package proofs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	testName = regexp.MustCompile("`(Test[A-Z]\\w*)`")
	row      = regexp.MustCompile(`(?m)^\| (\d+) \|.*$`)
)

// declared are the names of all tests below a folder.
func declared(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
				names[function.Name.Name] = true
			}
		}
		return nil
	}))
	return names
}

// TestEveryLineOfTheSecurityTablesHasItsTests wants all 34 lines in the table of what holds, and again in the table of what
// failed without it, each with tests that exist: one that was renamed must be renamed there, too.
func TestEveryLineOfTheSecurityTablesHasItsTests(t *testing.T) {
	raw, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	tests := declared(t, "../..")
	holds, fails, found := strings.Cut(string(raw), "### Each guard taken out")
	require.True(t, found)
	for _, table := range []string{holds, fails} {
		var lines []string
		for _, line := range row.FindAllStringSubmatch(table, -1) {
			named := testName.FindAllStringSubmatch(line[0], -1)
			assert.NotEmpty(t, named, "line %s names no test", line[1])
			for _, name := range named {
				assert.True(t, tests[name[1]], "line %s names %s, which there is not", line[1], name[1])
			}
			lines = append(lines, line[1])
		}
		if lines = slices.Compact(lines); assert.Len(t, lines, 34) {
			assert.Equal(t, []string{"1", "34"}, []string{lines[0], lines[33]})
		}
	}
}

// subtest is the name of a test, maybe with that of one within it.
var subtest = regexp.MustCompile("`(Test[A-Z]\\w*)(?:/[^`]*)?`")

// TestEveryTestThatTheDocsNameIsThere wants no page to cite a test that was renamed or removed.
func TestEveryTestThatTheDocsNameIsThere(t *testing.T) {
	tests := declared(t, "../..")
	cited := 0
	for _, pattern := range []string{"../../docs/*.md", "../../docs/decisions/*.md"} {
		pages, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, page := range pages {
			raw, err := os.ReadFile(page)
			require.NoError(t, err)
			for _, named := range subtest.FindAllStringSubmatch(string(raw), -1) {
				assert.True(t, tests[named[1]], "%s names %s, which there is not", page, named[1])
				cited++
			}
		}
	}
	assert.Positive(t, cited)
}
