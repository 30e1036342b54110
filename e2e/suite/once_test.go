package suite

import (
	"flag"
	"strings"
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

// skipOnce leaves out the tests of once, beside those that the command line leaves out.
func skipOnce() error {
	pattern := "^(" + strings.Join(once, "|") + ")$"
	if given := flag.Lookup("test.skip").Value.String(); given != "" {
		pattern = given + "|" + pattern
	}
	return flag.Set("test.skip", pattern)
}
