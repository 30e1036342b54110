package stack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// Node is one more server of the site: the same database, files and configuration, an address and plugin processes of
// its own. Sessions are good on all nodes. As without a licence, nodes tell each other nothing.
type Node struct {
	*Mattermost
	// Transport holds all traffic with the plugin on this node to its contract.
	Transport http.RoundTripper
}

// NodeConfig says how a node differs from the site's first server.
type NodeConfig struct {
	// Settings go before those of the first server.
	Settings Settings
}

// AddNode starts one more node with the configuration that the first server has now, and waits until the plugin is
// healthy there. Down stops it.
func (s *Stack) AddNode(ctx context.Context, cfg NodeConfig) (*Node, error) {
	site := s.site
	s.added++
	site.Dir = fmt.Sprintf("%s-%d", s.site.Dir, s.added+1)
	site.Settings = cfg.Settings
	if err := s.Mattermost.saved(&site.Saved); err != nil {
		return nil, err
	}
	var err error
	if site.Address, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	site.URL = "http://" + site.Address + s.subpath
	node := new(Node)
	if node.Transport, err = s.newContract(site.URL); err != nil {
		return nil, err
	}
	if node.Mattermost, err = startMattermost(ctx, site); node.Mattermost != nil {
		s.nodes = append(s.nodes, node)
	}
	if err != nil {
		return nil, err
	}
	return node, pluginReady(ctx, node.Mattermost)
}

// StopNode stops a node before Down does.
func (s *Stack) StopNode(node *Node) error {
	s.nodes = slices.DeleteFunc(s.nodes, func(n *Node) bool { return n == node })
	return node.Stop()
}

// OnAllNodes does as the admin on every node what the nodes of a cluster would tell each other.
func (s *Stack) OnAllNodes(do func(admin *rest.Client) error) error {
	err := do(s.Admin.Client)
	for _, node := range s.nodes {
		err = errors.Join(err, do(rest.New(node.URL, s.Admin.Token)))
	}
	return err
}

// ForgetOnOtherNodes empties the caches of all nodes but the first. In a cluster the first would tell them what has
// changed, such as who is in a channel.
func (s *Stack) ForgetOnOtherNodes(ctx context.Context) error {
	var err error
	for _, node := range s.nodes {
		err = errors.Join(err, rest.New(node.URL, s.Admin.Token).Post(ctx, "/api/v4/caches/invalidate", nil, nil))
	}
	return err
}

// Plugin is the plugin's API on this node as the account, held to its contract; nil is nobody.
func (n *Node) Plugin(account *Account) api.Client {
	client := rest.New(n.URL+apiPath, "")
	client.HTTP.Transport = n.Transport
	if account != nil {
		client.Token = account.Token
	}
	return api.Client{Client: client}
}
