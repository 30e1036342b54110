package suite

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// once are the tests that tell nothing more over another file host: they bring hosts of their own, or are
// about Mattermost, its store and its callers. They run over the embedded host alone.
var once = []string{
	// Hosts of their own.
	"TestApache", "TestApacheFreshFile", "TestEveryFailureOfTheHostHasItsRemedy", "TestEveryFailureOfTheTokenEndpointHasItsRemedy",
	"TestDisabledAccount", "TestHostInMaintenance", "TestDisconnectEndsTheAppPassword", "TestWrongPasswordsAreFew", "TestHostPages",
	// Sites and nodes of their own.
	"TestASiteBelowASubpath", "TestASiteWithoutAnAddress", "TestNodesShareAConnection", "TestNodesShareOneRefresh",
	"TestSlowSource", "TestSlowSourceAndTheFileStore", "TestAnotherNodeTakesOver",
	// Mattermost: its callers, its store and its upload route.
	"TestPersonalAccessTokens", "TestGuests", "TestDeactivatedUsers", "TestOAuthApplications", "TestDocument", "TestSecretsAreMasked",
	"TestAStoreThatIsDown", "TestALostKeyWarns", "TestAWrongSettingIsNamedByItsLabel", "TestAnUploadRouteOutOfReachHasItsRemedy",
	"TestUnscannedCopies", "TestMemoryIsFlat",
	// The plugin killed.
	"TestKilledBeforeTheClaim", "TestKilledWhileCopying", "TestKilledAfterTheUpload", "TestKilledWhileItsPostIsCreated",
}

// TestOnceNamesTests wants each of them to be a test of this package, by its source: a name that is none leaves out nothing.
func TestOnceNamesTests(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	declared := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must(t, err)
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok {
				declared[function.Name.Name] = true
			}
		}
	}
	for _, name := range once {
		if !declared[name] {
			t.Errorf("there is no test %s", name)
		}
	}
}

// skipOnce leaves out the tests of once, beside those that the command line leaves out.
func skipOnce() error {
	pattern := "^(" + strings.Join(once, "|") + ")$"
	if given := flag.Lookup("test.skip").Value.String(); given != "" {
		pattern = given + "|" + pattern
	}
	return flag.Set("test.skip", pattern)
}
