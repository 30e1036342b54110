package filehost_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// inBubble watches probes for as long as the test's steps take, in a time that passes only when all have nothing to do.
func inBubble(t *testing.T, probes []filehost.Probe, log io.Writer, steps func(*filehost.Monitor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		monitor := filehost.NewMonitor(clockwork.NewRealClock(), slog.New(slog.NewTextHandler(log, nil)), time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() {
			defer close(ended)
			monitor.Watch(ctx, probes, time.Second)
		}()
		synctest.Wait()
		steps(monitor)
		stop()
		<-ended
	})
}

func TestAMonitorRunsAgainAfterItsIntervalAndReportsTheWorst(t *testing.T) {
	status, _ := filehost.NewMonitor(clockwork.NewRealClock(), slog.New(slog.DiscardHandler), time.Minute).Report()
	assert.Equal(t, filehost.Warn, status, "nothing is known yet")

	var mu sync.Mutex
	var current error
	var logged bytes.Buffer
	probes := []filehost.Probe{
		{Name: "good", Run: func(context.Context) error { return nil }},
		{Name: "changing", Run: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			return current
		}},
	}
	inBubble(t, probes, lockedWriter{&mu, &logged}, func(monitor *filehost.Monitor) {
		for _, round := range []struct {
			err    error
			want   filehost.Status
			remedy string
			logs   string
		}{
			{nil, filehost.Pass, "", ""},
			{&filehost.Degraded{Remedy: "It is slow.", Err: errors.New("cause0")}, filehost.Warn, "It is slow.", "cause0"},
			{filehost.E(filehost.HostUnavailable, "Check the address.", errors.New("cause1")), filehost.Fail, "Check the address.", "cause1"},
			{filehost.E(filehost.HostUnavailable, "Check the address.", errors.New("cause2")), filehost.Fail, "Check the address.", ""},
			{errors.New("secret"), filehost.Fail, "An unexpected error; the Mattermost server's log has the details.", ""},
			{nil, filehost.Pass, "", "status=pass"},
		} {
			mu.Lock()
			logged.Reset()
			current = round.err
			mu.Unlock()
			<-time.After(time.Second)
			synctest.Wait()
			status, checks := monitor.Report()
			assert.Equal(t, round.want, status)
			assert.Equal(t, filehost.Pass, checks[0].Status)
			assert.Equal(t, round.remedy, checks[1].Remedy)
			assert.Contains(t, logged.String(), round.logs)
			assert.Equal(t, round.logs == "", logged.Len() == 0, "only a change is logged")
		}
	})
}

type lockedWriter struct {
	*sync.Mutex
	io.Writer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.Lock()
	defer w.Unlock()
	return w.Writer.Write(p)
}

func TestAProbeThatHangsOrPanicsFails(t *testing.T) {
	runs := 0
	var hang chan error // made in the bubble
	probes := []filehost.Probe{
		{Name: "hanging", Run: func(context.Context) error { runs++; hang = make(chan error); return <-hang }},
		{Name: "panicking", Run: func(context.Context) error { panic("secret") }},
	}
	inBubble(t, probes, io.Discard, func(monitor *filehost.Monitor) {
		<-time.After(5 * time.Minute)
		synctest.Wait()
		status, checks := monitor.Report()
		assert.Equal(t, filehost.Fail, status)
		assert.Equal(t, "The check has not answered in time.", checks[0].Remedy)
		assert.Equal(t, filehost.Fail, checks[1].Status)
		assert.NotContains(t, checks[1].Remedy, "secret")
		assert.Equal(t, 1, runs, "it is not started again while it hangs")
		close(hang)
		synctest.Wait()
		status, checks = monitor.Report()
		assert.Equal(t, filehost.Pass, checks[0].Status)
		assert.Equal(t, filehost.Fail, status)
	})
}

func TestTheProbesOfAHealthyServicePass(t *testing.T) {
	w := newWorld()
	kv := filehosttest.NewKV(clockwork.NewFakeClockAt(noon))
	probes := w.Probes(kv, func(context.Context) error { return nil })
	for range 2 {
		for _, probe := range probes {
			require.NoError(t, probe.Run(t.Context()), probe.Name)
		}
	}
	kv.Fail(func(filehosttest.Op, string) error { return errors.New("down") })
	assert.Error(t, probes[1].Run(t.Context()), "key")
	assert.Error(t, probes[2].Run(t.Context()), "kv_store")
}

func TestAKeyThatIsNotHereAnyMoreWarns(t *testing.T) {
	w := newWorld()
	kv := filehosttest.NewKV(clockwork.NewFakeClockAt(noon))
	kv.Put("key_sample", []byte("sealed with another key"))
	err := w.Probes(kv, nil)[1].Run(t.Context())
	var degraded *filehost.Degraded
	require.ErrorAs(t, err, &degraded)
	assert.Contains(t, degraded.Remedy, "enter the former key")
}
