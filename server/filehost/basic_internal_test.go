package filehost

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pageOf is a page that weighs about so many bytes.
func pageOf(bytes int) Page {
	return Page{Folder: &Entry{}, Entries: make([]Entry, (bytes-pageBytes-entryBytes)/entryBytes)}
}

func TestKeptPagesHaveBounds(t *testing.T) {
	var p pages
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p.put("alice", "large", pageOf(keptBytesPerUser+entryBytes), now)
	assert.Zero(t, p.bytes, "larger than what a user may have")

	p.put("bob", "bob's", pageOf(1000), now)
	for i := range 10 {
		p.put("alice", fmt.Sprint(i), pageOf(keptBytesPerUser/3), now)
		_, ok := p.get("0", now)
		assert.True(t, ok, "it is used all the time")
	}
	assert.LessOrEqual(t, p.byUser["alice"], int64(keptBytesPerUser))
	_, ok := p.get("7", now)
	assert.False(t, ok, "it was not used since another came")
	_, ok = p.get("bob's", now)
	assert.True(t, ok, "who has much drives out nobody else's")

	for i := range 100 {
		p.put(fmt.Sprint("user ", i), fmt.Sprint("page of ", i), pageOf(keptBytesPerUser-1000), now)
	}
	assert.LessOrEqual(t, p.bytes, int64(keptBytesPerNode))
	assert.Greater(t, p.bytes, int64(keptBytesPerNode-2*keptBytesPerUser))
	for i := range keptPagesPerNode {
		p.put(fmt.Sprint("user ", i), fmt.Sprint("small ", i), pageOf(1000), now)
	}
	assert.Equal(t, keptPagesPerNode, p.order.Len())

	p.put("alice", "fresh", pageOf(1000), now.Add(keptFor))
	assert.Equal(t, 1, p.order.Len(), "what is too old has gone")
	p.forget("alice")
	assert.Zero(t, p.bytes)
	require.Empty(t, p.byKey)
	assert.Empty(t, p.byUser)
}

func TestAKeptPageIsNobodysToChange(t *testing.T) {
	var p pages
	now := time.Now()
	page := pageOf(2000)
	page.Entries[0].Favorite, page.Folder.Permissions = new(bool), []Permission{Read}
	p.put("alice", "key", page, now)
	page.Entries[0].MIMEType = "changed"
	first, _ := p.get("key", now)
	assert.Empty(t, first.Entries[0].MIMEType)
	assert.Nil(t, first.Entries[0].Favorite, "it changes by itself, so that it is not kept")
	assert.Nil(t, first.Folder.Permissions)
	first.Entries[0].MIMEType = "changed"
	second, _ := p.get("key", now)
	assert.Empty(t, second.Entries[0].MIMEType)
	p.put("alice", "key", pageOf(4000), now)
	third, _ := p.get("key", now)
	assert.Greater(t, len(third.Entries), len(second.Entries))
	assert.Equal(t, 1, p.order.Len())
}
