package stack

import (
	"context"
	"path/filepath"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
)

// oidcProvider is npm's oidc-provider: authorization code with PKCE, and refresh tokens of which each is good once.
var oidcProvider = signInKind{
	program: func(ctx context.Context, build builder) ([]string, error) {
		const dir = "e2e/signin/oidcprovider"
		program := filepath.Join(build.root, dir, "server.mjs")
		return []string{"node", program}, oneAtATime(filepath.Join(build.cache, "oidcprovider.lock"), func() error {
			return run(ctx, step{
				Doing: "installing oidc-provider", Say: build.say, Dir: build.root,
				Args: []string{"make", "--silent", dir + "/node_modules/.installed"},
			})
		})
	},
	configure: func(s *SignInServer, _ SignInConfig, config map[string]any) error {
		key, err := signin.NewKey()
		if err != nil {
			return err
		}
		s.Key = key
		config["key"] = jose.JSONWebKey{Key: key.Private, KeyID: key.ID, Use: "sig", Algorithm: string(jose.RS256)}
		return nil
	},
	paths:         signin.Paths{Token: "/token", Revocation: "/token/revocation", Keys: "/jwks"},
	introspection: "/token/introspection",
	userClaim:     "sub",
	method:        "oauth",
	scopes:        "openid offline_access",
}

// fositeServer knows the grant of RFC 7523 only, and whose subjects are whose.
var fositeServer = signInKind{
	program: nested("fosite"),
	configure: func(s *SignInServer, cfg SignInConfig, config map[string]any) error {
		config["trusted"], config["keys"] = cfg.Trusted, cfg.Trusted+"/jwks.json"
		config["links"], config["scopes"] = s.links(), []string{"files"}
		return nil
	},
	paths:         signin.Paths{Token: "/oauth2/token", Revocation: "/oauth2/revoke", Keys: "/.well-known/jwks.json"},
	introspection: "/oauth2/introspect",
	userClaim:     "sub",
	method:        "jwt_bearer",
	scopes:        "files",
}

// dexConnector is the id of Dex's connector for the trusted issuer.
const dexConnector = "mattermost"

// dex is Dex, which exchanges ID tokens of the issuer that a connector of its is for (RFC 8693).
var dex = signInKind{
	program: nested("dex"),
	configure: func(_ *SignInServer, cfg SignInConfig, config map[string]any) error {
		config["connector"] = map[string]string{"id": dexConnector, "issuer": cfg.Trusted}
		return nil
	},
	paths:     signin.Paths{Token: "/token", Keys: "/keys"},
	userInfo:  "/userinfo",
	userClaim: "name",
	method:    "token_exchange",
	scopes:    "openid profile",
	settings:  map[string]any{"exchangeconnectorid": dexConnector, "exchangesubject": "id_token"},
}
