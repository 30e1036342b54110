// Command deploy uploads a bundle to a running Mattermost server and enables
// it, through the server's REST API.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/mattermost/mattermost/server/public/model"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("deploy: ")

	bundle := flag.String("bundle", "", "the tar.gz to upload")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	site, token := os.Getenv("MM_SERVICESETTINGS_SITEURL"), os.Getenv("MM_ADMIN_TOKEN")
	if err := deploy(ctx, site, token, *bundle); err != nil {
		log.Fatal(err)
	}
}

// deploy replaces the plugin on the server at site by the one in bundle and
// enables it. Token is a personal access token of a system admin.
func deploy(ctx context.Context, site, token, bundle string) (err error) {
	if site == "" || token == "" {
		return errors.New("set MM_SERVICESETTINGS_SITEURL and MM_ADMIN_TOKEN (a system admin's personal access token)")
	}
	file, err := os.Open(bundle) // #nosec G304 -- the caller names his own file
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	client := model.NewAPIv4Client(site)
	client.SetToken(token)

	uploaded, _, err := client.UploadPluginForced(ctx, file)
	if err != nil {
		return fmt.Errorf("upload to %s: %w", site, err)
	}
	if _, err := client.EnablePlugin(ctx, uploaded.Id); err != nil {
		return fmt.Errorf("enable on %s: %w", site, err)
	}
	log.Printf("%s %s is enabled on %s", uploaded.Id, uploaded.Version, site) // #nosec G706 -- read by the person who runs this
	return nil
}
