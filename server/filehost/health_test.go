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
			{errors.New("secret"), filehost.Fail, "Something unexpected went wrong: look for “The state of a health check has changed” in Mattermost's log, which has the details.", ""},
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
		assert.Equal(t, "The check did not end in time; it goes on, and its result will stand here.", checks[0].Remedy)
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

func TestAProbeThatIsStoppedSaysWhyItself(t *testing.T) {
	probes := []filehost.Probe{{Name: "slow", Run: func(ctx context.Context) error {
		<-ctx.Done()
		return filehost.E(filehost.Timeout, "Nobody answers.", ctx.Err())
	}}}
	inBubble(t, probes, io.Discard, func(monitor *filehost.Monitor) {
		<-time.After(time.Minute + time.Millisecond)
		synctest.Wait()
		_, checks := monitor.Report()
		require.Len(t, checks, 1)
		assert.Equal(t, "Nobody answers.", checks[0].Remedy)
	})
}

func TestTheProbesOfAHealthyServicePass(t *testing.T) {
	w := newWorld()
	kv := filehosttest.NewKV(clockwork.NewFakeClockAt(noon))
	probes := w.Probes(kv, func(context.Context) error { return nil }, nil, func() string { return "The key is fine." })
	for range 2 {
		for _, probe := range probes {
			require.NoError(t, probe.Run(t.Context()), probe.Name)
		}
	}
	kv.Fail(func(filehosttest.Op, string) error { return errors.New("down") })
	assert.Error(t, probes[1].Run(t.Context()), "key")
	assert.Error(t, probes[2].Run(t.Context()), "kv_store")
}

func TestAnAdminIsToldTheNoteOfACheckWhetherItPassesOrNot(t *testing.T) {
	for err, want := range map[error]string{
		nil: "The key is fine.",
		&filehost.Degraded{Remedy: "Do something.", Err: errors.New("cause")}: "Do something. The key is fine.",
	} {
		probes := []filehost.Probe{{Name: "key", Run: func(context.Context) error { return err }, Note: func() string { return "The key is fine." }}}
		inBubble(t, probes, io.Discard, func(monitor *filehost.Monitor) {
			_, checks := monitor.Report()
			require.Len(t, checks, 1)
			assert.Equal(t, want, checks[0].Remedy)
		})
	}
}

// directory says of every audience the same.
type directory struct {
	filehost.Members
	err, names error
}

func (d directory) CheckAudience(context.Context, filehost.Audience) error { return d.err }
func (d directory) CheckNames(context.Context) error                       { return d.names }

func TestAnAdminIsWarnedOfNamesThatUsersCanHaveChosen(t *testing.T) {
	none, open := errors.New("no team"), &filehost.Degraded{Remedy: "An open team."}
	chosen := &filehost.Degraded{Remedy: "Chosen names."}
	for name, test := range map[string]struct {
		audience   error
		byUsername bool
		want       string
	}{
		"beside nothing":              {nil, true, "Chosen names."},
		"beside another warning":      {open, true, "An open team. Chosen names."},
		"nobody has access":           {none, true, "no team"},
		"users are not named by them": {open, false, "An open team."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.Methods, w.ByUsername = []filehost.Method{filehost.MethodJWTBearer}, test.byUsername
			w.Members = directory{err: test.audience, names: chosen}
			probes := w.Probes(w.kv, nil, nil, nil)
			err := probes[len(probes)-1].Run(t.Context())
			var degraded *filehost.Degraded
			if errors.As(err, &degraded) {
				err = errors.New(degraded.Remedy)
			}
			require.EqualError(t, err, test.want)
		})
	}
}

func TestAccessWithoutSigningInHasChecksOfItsOwn(t *testing.T) {
	common := len(newWorld().Probes(nil, nil, nil, nil))
	names := func(w *world) (names []string) {
		for _, probe := range w.Probes(w.kv, nil, nil, nil)[common:] {
			names = append(names, probe.Name)
		}
		return names
	}
	w := newWorld()
	w.Methods = []filehost.Method{filehost.MethodJWTBearer, filehost.MethodOAuth}
	assert.Equal(t, []string{"automatic_access"}, names(w))
	for _, method := range []filehost.Method{filehost.MethodAppToken, filehost.MethodServiceAccount} {
		w.Methods[0] = method
		assert.Equal(t, []string{"automatic_access", "service_account"}, names(w))
	}

	rejected := errors.New("rejected")
	w.Members = directory{}
	probes := w.Probes(w.kv, nil, func(context.Context) error { return rejected }, nil)
	require.NoError(t, probes[common].Run(t.Context()))
	require.ErrorIs(t, probes[common+1].Run(t.Context()), rejected)
	unknown := errors.New("no such team")
	w.Members = directory{err: unknown}
	require.ErrorIs(t, probes[common].Run(t.Context()), unknown)
	full := errors.New("full")
	w.audit.Refuse(full)
	require.ErrorIs(t, probes[common].Run(t.Context()), full)
}

func TestAKeyThatIsNotHereAnyMoreWarns(t *testing.T) {
	w := newWorld()
	kv := filehosttest.NewKV(clockwork.NewFakeClockAt(noon))
	kv.Put("key_sample", []byte("sealed with another key"))
	err := w.Probes(kv, nil, nil, nil)[1].Run(t.Context())
	var degraded *filehost.Degraded
	require.ErrorAs(t, err, &degraded)
	assert.Contains(t, degraded.Remedy, "enter the former key")
}

func TestACheckThatIsAskedForAgainRunsAtOnceAndOnce(t *testing.T) {
	runs := map[string]int{}
	var mu sync.Mutex
	count := func(name string) filehost.Probe {
		return filehost.Probe{Name: name, Run: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			runs[name]++
			return nil
		}}
	}
	inBubble(t, []filehost.Probe{count("one"), count("other")}, io.Discard, func(monitor *filehost.Monitor) {
		monitor.Recheck("one")
		synctest.Wait()
		assert.Equal(t, map[string]int{"one": 2, "other": 1}, runs, "no time has passed")
		monitor.Recheck("none")
		synctest.Wait()
		assert.Equal(t, map[string]int{"one": 2, "other": 1}, runs)
	})
}

func TestNoCheckWaitsForAnother(t *testing.T) {
	var release chan error // made in the bubble
	probes := []filehost.Probe{
		{Name: "hanging", Run: func(context.Context) error { release = make(chan error); return <-release }},
		{Name: "quick", Run: func(context.Context) error { return filehost.E(filehost.Internal, "Mend it.", nil) }},
	}
	inBubble(t, probes, io.Discard, func(monitor *filehost.Monitor) {
		status, checks := monitor.Report()
		require.Len(t, checks, 1, "the other has no result yet")
		assert.Equal(t, "Mend it.", checks[0].Remedy)
		assert.Equal(t, filehost.Fail, status)
		close(release)
		synctest.Wait()
		_, checks = monitor.Report()
		assert.Len(t, checks, 2)
	})
}

func TestTheSampleIsEncryptedAnewByEachConfigurationSoThatTheLossOfItsKeyShows(t *testing.T) {
	w := newWorld()
	kv := filehosttest.NewKV(clockwork.NewFakeClockAt(noon))
	writes := 0
	kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == "key_sample" {
			writes++
		}
		return nil
	})
	for _, configuration := range []string{"first", "next"} {
		before, probe := writes, w.Probes(kv, nil, nil, nil)[1]
		for range 3 {
			require.NoError(t, probe.Run(t.Context()))
		}
		assert.Equal(t, before+1, writes, configuration)
	}
}
