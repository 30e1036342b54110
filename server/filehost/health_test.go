package filehost_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestAMonitorRunsAgainAfterItsIntervalAndReportsTheWorst(t *testing.T) {
	clock := clockwork.NewFakeClockAt(noon)
	monitor := filehost.NewMonitor(clock, time.Minute)
	status, _ := monitor.Report()
	assert.Equal(t, filehost.Warn, status, "nothing is known yet")

	results := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		monitor.Watch(ctx, []filehost.Probe{
			{Name: "good", Worst: filehost.Fail, Run: func(context.Context) error { return nil }},
			{Name: "changing", Worst: filehost.Fail, Run: func(context.Context) error { return <-results }},
			{Name: "panicking", Worst: filehost.Warn, Run: func(context.Context) error { panic("secret") }},
		}, time.Second)
	}()
	for _, round := range []struct {
		err    error
		want   filehost.Status
		remedy string
	}{
		{nil, filehost.Warn, ""},
		{filehost.E(filehost.HostUnavailable, "Check the address.", errors.New("secret")), filehost.Fail, "Check the address."},
		{errors.New("secret"), filehost.Fail, "An unexpected error; the Mattermost server's log has the details."},
	} {
		results <- round.err
		require.NoError(t, clock.BlockUntilContext(ctx, 1))
		status, checks := monitor.Report()
		assert.Equal(t, round.want, status)
		assert.Equal(t, filehost.Pass, checks[0].Status)
		assert.Equal(t, round.remedy, checks[1].Remedy)
		assert.Equal(t, filehost.Warn, checks[2].Status)
		assert.NotContains(t, checks[2].Remedy, "secret")
		clock.Advance(time.Second)
	}
	results <- nil
	stop()
	<-ended
}

func TestTheProbesOfAHealthyServicePass(t *testing.T) {
	w := newWorld()
	kv := filehosttest.NewKV(clockwork.NewFakeClockAt(noon))
	probes := w.Probes(kv, func(context.Context) error { return nil })
	for _, probe := range probes {
		assert.NoError(t, probe.Run(t.Context()), probe.Name)
	}
	kv.Fail(func(filehosttest.Op, string) error { return errors.New("down") })
	assert.Error(t, probes[2].Run(t.Context()), "kv_store")
}
