package stack

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

// fileHosts start the file hosts that a stack can have of its own, by Config.Host.
var fileHosts = map[string]func(context.Context, hosts.Config) (hosts.Host, error){
	"embedded":  starter(embedded.Start),
	"nextcloud": starter(doubles.StartNextcloud),
	"opencloud": starter(doubles.StartOpenCloud),
	"owncloud":  starter(doubles.StartOwnCloud),
}

// Hosts are the values that Config.Host can have.
func Hosts() []string { return slices.Sorted(maps.Keys(fileHosts)) }

// starter keeps a host that did not start from looking like one.
func starter[H hosts.Host](start func(context.Context, hosts.Config) (H, error)) func(context.Context, hosts.Config) (hosts.Host, error) {
	return func(ctx context.Context, cfg hosts.Config) (hosts.Host, error) {
		host, err := start(ctx, cfg)
		if err != nil {
			return nil, err
		}
		return host, nil
	}
}

func startHost(ctx context.Context, name string, cfg hosts.Config) (hosts.Host, error) {
	start, ok := fileHosts[name]
	if !ok {
		return nil, fmt.Errorf("no file host %q; there are %q", name, Hosts())
	}
	return start(ctx, cfg)
}
