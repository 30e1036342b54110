package mattermost

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/require"
)

// keyList is a server's table of keys, sorted, which may change between two pages.
type keyList struct {
	plugintest.API
	keys    []string
	between func(*keyList)
	asked   int
}

func (l *keyList) KVList(page, perPage int) ([]string, *model.AppError) {
	l.asked++
	slices.Sort(l.keys)
	begin := min(page*perPage, len(l.keys))
	found := slices.Clone(l.keys[begin:min(begin+perPage, len(l.keys))])
	if l.between != nil {
		l.between(l)
	}
	return found, nil
}

func numbered(prefix string, n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("%s%06d", prefix, i))
	}
	return keys
}

func TestKVListsTheKeysOfAPrefixOverAllPages(t *testing.T) {
	for n, pages := range map[int]int{0: 1, 1: 1, listPage - 1: 1, listPage: 3, 2*listPage + 7: 5} {
		list := &keyList{keys: append(numbered("conn_", n), numbered("xother_", 3)...)}
		if n == listPage-1 {
			list.keys = list.keys[:n]
		}
		found, err := (KV{API: list}).List(t.Context(), "conn_")
		require.NoError(t, err)
		slices.Sort(found)
		require.Equal(t, numbered("conn_", n), append([]string(nil), found...), n)
		require.Equal(t, pages, list.asked, n)
	}
}

func TestKVMissesNoKeyWhenOthersGoWhileItLists(t *testing.T) {
	list := &keyList{keys: numbered("conn_", 2*listPage)}
	kept := slices.Clone(list.keys[10:])
	list.between = func(l *keyList) {
		l.keys = slices.Clone(l.keys[10:]) // all later keys move to the front
		l.between = nil
	}
	found, err := (KV{API: list}).List(t.Context(), "conn_")
	require.NoError(t, err)
	require.Subset(t, found, kept)
}

func TestKVListFailsAsAWhole(t *testing.T) {
	api := &plugintest.API{}
	api.On("KVList", 0, listPage).Return(numbered("conn_", listPage), nil)
	api.On("KVList", 1, listPage).Return(nil, notFound())
	found, err := (KV{API: api}).List(t.Context(), "conn_")
	require.Error(t, err)
	require.Nil(t, found)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = (KV{API: api}).List(ctx, "conn_")
	require.ErrorIs(t, err, context.Canceled)
	api.AssertNumberOfCalls(t, "KVList", 2)
}
