package filehost

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// maxClockDifference is how far two clocks may be apart before an admin is told.
const maxClockDifference = 5 * time.Minute

var errClock = errors.New("the clocks differ")

// CheckClock compares a server's clock, as the header of an answer tells it (RFC 9110 6.6.1), with ours at the time of
// that answer. It fails with Degraded when they are more than five minutes apart. name is the server's. A header without
// a readable Date proves nothing.
func CheckClock(name string, header http.Header, now time.Time) error {
	theirs, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if age, err := strconv.ParseUint(header.Get("Age"), 10, 31); err == nil { // a cache's copy (RFC 9111 5.1)
		theirs = theirs.Add(time.Duration(age) * time.Second)
	}
	difference, direction := theirs.Sub(now), "ahead of"
	if difference < 0 {
		difference, direction = -difference, "behind"
	}
	if difference <= maxClockDifference {
		return nil
	}
	return &Degraded{Err: fmt.Errorf("%w by %s", errClock, theirs.Sub(now).Round(time.Second)),
		Remedy: fmt.Sprintf("The clock of %s is %s %s that of the Mattermost server's machine: let both follow a time server (NTP). "+
			"Until then sign-ins and certificates are taken for expired or not yet valid, and users have to connect again.", name, roughly(difference), direction)}
}

// roughly words a difference that is longer than a minute.
func roughly(difference time.Duration) string {
	const day = 24 * time.Hour
	minutes := int(difference.Round(time.Minute) / time.Minute)
	switch {
	case difference >= 2*day:
		return fmt.Sprintf("%d days", difference/day)
	case minutes < 60:
		return fmt.Sprintf("%d minutes", minutes)
	}
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}
