package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

const (
	pageRounds = 9
	hostDelay  = 500 * time.Millisecond
	pageBound  = 1.15
)

// measureFirstPage compares the first page of a large folder with the PROPFIND that it needs, by curl.
func measureFirstPage(ctx context.Context, b *bench) (rows []row, err error) {
	if err := b.learnPropfind(ctx); err != nil {
		return nil, err
	}
	nginx, err := stack.StartNginx(ctx, hostUser, stack.HostPassword(hostUser), writeTree)
	if nginx != nil {
		defer func() { err = errors.Join(err, nginx.Stop()) }()
	}
	if err != nil {
		return nil, err
	}
	for _, host := range []struct{ name, url string }{{"embedded host", b.Host.URL()}, {"nginx", nginx.URL}} {
		slow, err := b.firstPageOfSlow(ctx, host.name, host.url)
		if err != nil {
			return nil, err
		}
		quick, err := b.firstPage(ctx, host.name, host.url)
		if err != nil {
			return nil, err
		}
		rows = append(rows, slow, quick)
	}
	return rows, nil
}

func (b *bench) firstPageOfSlow(ctx context.Context, name, target string) (r row, err error) {
	slow, err := startSlowHost(ctx, target, hostDelay)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, slow.stop()) }()
	if r, err = b.firstPage(ctx, name+" that takes 500 ms", slow.URL); err != nil {
		return row{}, err
	}
	return r.atMost(*r.Ratio, pageBound, fmt.Sprintf("at most %g x", pageBound)), nil
}

func (b *bench) firstPage(ctx context.Context, name, hostURL string) (row, error) {
	if err := b.use(ctx, hostURL); err != nil {
		return row{}, err
	}
	page := append(b.asUser(), b.BaseURL()+"/files?"+url.Values{"path": {manyFolder}}.Encode())
	raw, err := b.propfindByCurl(hostURL, manyFolder)
	if err != nil {
		return row{}, err
	}
	times, err := interleave(ctx, pageRounds,
		func(ctx context.Context) (time.Duration, error) { return curl(ctx, page...) },
		func(ctx context.Context) (time.Duration, error) { return curl(ctx, raw...) },
	)
	if err != nil {
		return row{}, err
	}
	ours, theirs := milliseconds(median(times[0])), milliseconds(median(times[1]))
	r := row{Work: "first page of 100 from 10,000 entries, " + name, Value: ours, Unit: "ms",
		Against: fmt.Sprintf("its PROPFIND by curl: %g ms", theirs)}
	return r.ratioTo(theirs), nil
}

// learnPropfind lists a folder through a host that remembers what the plugin asks, so that what is compared asks the
// same. The header holds hostUser's password, which is good at every host. The plugin is left without a host.
func (b *bench) learnPropfind(ctx context.Context) (err error) {
	if b.asked != nil {
		return nil
	}
	listening, err := startSlowHost(ctx, b.Host.URL(), 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listening.stop()) }()
	if err := b.use(ctx, listening.URL); err != nil {
		return err
	}
	if _, err := b.listing(hundredFolder).run(ctx); err != nil {
		return err
	}
	if b.asked = listening.last(); b.asked == nil {
		return errors.New("the plugin made no PROPFIND")
	}
	return nil
}

// propfindByCurl are curl's arguments for what the plugin asks for a folder of the host at base.
func (b *bench) propfindByCurl(base, folder string) ([]string, error) {
	return b.asked.byCurl(filepath.Join(b.dir, "propfind.xml"), base+folder[1:]+"/")
}
