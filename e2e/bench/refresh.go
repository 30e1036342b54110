package main

import "context"

// expiredCallers is how many callers meet the expired token at once.
const expiredCallers = 300

// measureRefresh has many callers list a folder with one access token that the host no longer takes, and counts what the
// sign-in server is asked.
func measureRefresh(ctx context.Context, b *bench) ([]row, error) {
	listing := b.listing(hundredFolder)
	if _, err := listing.run(ctx); err != nil {
		return nil, err
	}
	b.Host.ExpireAccessTokens(hostUser)
	before := b.Host.Counts().TokenRequests
	listing.Callers = expiredCallers
	if _, err := listing.run(ctx); err != nil {
		return nil, err
	}
	requests := float64(b.Host.Counts().TokenRequests - before)
	r := row{Work: "token refresh, 300 callers with one expired token", Value: requests, Unit: "token requests", Against: "one"}
	return []row{r.ratioTo(1).atMost(requests, 1, "1")}, nil
}
