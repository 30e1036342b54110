package suite

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// once are the tests that tell nothing more over another file host: they bring hosts of their own, or are
// about Mattermost, its store and its callers. They run over the embedded host alone.
var once = []string{
	// Hosts of their own.
	"TestApache", "TestApacheFreshFile", "TestEveryFailureOfTheHostHasItsRemedy", "TestEveryFailureOfTheTokenEndpointHasItsRemedy",
	"TestDisabledAccount", "TestHostInMaintenance", "TestDisconnectEndsTheAppPassword", "TestWrongPasswordsAreFew", "TestHostPages",
	"TestOIDCProvider", "TestRevokedFamily", "TestForgedCallbacks", "TestForgedIDTokens", "TestLostAnswer",
	"TestWithoutAClick", "TestRefusedThenTheNextMethod", "TestRefusedThenSignIn", "TestOnlyThoseWhomTheAdminLets", "TestDisconnectedStaysSo",
	"TestTheAdminsMistakesRefuseNobody", "TestTheSingleSignOnVouches", "TestOnlyTheTeam", "TestAnOutageRefusesNobody", "TestAnActorWithoutTheRight", "TestThePluginAsAnIssuer",
	// Sites and nodes of their own.
	"TestASiteBelowASubpath", "TestASiteWithoutAnAddress", "TestNodesShareAConnection",
	"TestSlowSource", "TestSlowSourceAndTheFileStore", "TestAnotherNodeTakesOver",
	// Mattermost: its callers, its store and its upload route.
	"TestPersonalAccessTokens", "TestGuests", "TestDeactivatedUsers", "TestOAuthApplications", "TestDocument", "TestSecretsAreMasked",
	"TestAStoreThatIsDown", "TestALostKeyAsksToReconnectAndDeletesNothing",
	"TestAWrongSettingIsNamedByItsLabel", "TestAnUploadRouteOutOfReachHasItsRemedy",
	"TestUnscannedCopies", "TestMemoryIsFlat",
	// OpenCloud gets a minute before its 401 is believed, which unit tests wait for.
	"TestRejectedServiceAccountIsNotSentAgain",
	// The plugin killed.
	"TestKilledBeforeTheClaim", "TestKilledWhileCopying", "TestKilledAfterTheUpload", "TestKilledWhileItsPostIsCreated",
}

// slow are tests that take most of a minute and tell nothing more on an older Mattermost, or with another store for its
// files: they run on the newest with a local one, over the embedded host.
var slow = []string{"TestRotationUnderManyCallers", "TestRefreshOnceAcrossNodes", "TestKilledWhileRefreshing"}

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
	for _, name := range slices.Concat(once, slow) {
		if !declared[name] {
			t.Errorf("there is no test %s", name)
		}
	}
}

// skip leaves out what this variant of the site doesn't run, beside what the command line leaves out.
func skip() error {
	var left []string
	plain := site.Host.Traits().Kind == "webdav"
	if !plain {
		left = append(left, once...)
	}
	if !plain || site.FileStore != "local" || !site.Newest {
		left = append(left, slow...)
	}
	if len(left) == 0 {
		return nil
	}
	pattern := "^(" + strings.Join(left, "|") + ")$"
	if given := flag.Lookup("test.skip").Value.String(); given != "" {
		pattern = given + "|" + pattern
	}
	return flag.Set("test.skip", pattern)
}
