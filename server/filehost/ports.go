package filehost

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"time"
)

// DefaultHostID is the immutable id of the first configured host.
const DefaultHostID = "default"

// Host is the file host that the admin has configured.
type Host struct {
	ID      string // immutable; records and the redirect URI carry it
	Name    string // as users see it
	Kind    string // a key of the remote package's profile table
	BaseURL *url.URL
}

// Tokens gives out the credentials with which the file host is called as a user.
type Tokens interface {
	// For returns a credential that is valid for at least the next half minute.
	// It fails with NotConnected when the user must connect (again), HostUnavailable when the sign-in server can't be
	// asked.
	For(ctx context.Context, userID string) (Credential, error)
	// Renew is called after the host rejected a credential. It returns a newer one, refreshed at most once, or fails with
	// NotConnected when there is none to be had.
	Renew(ctx context.Context, userID string, rejected Credential) (Credential, error)
	// Reject marks a credential dead after the host rejected the renewed one as well: it is not sent again.
	Reject(ctx context.Context, userID string, rejected Credential) error
}

// ConnectionState says whether a user has access to the host.
type ConnectionState string

// The states of a connection.
const (
	Connected    ConnectionState = "connected"
	Disconnected ConnectionState = "not_connected"
	Reconnect    ConnectionState = "reconnect" // was connected; the host no longer accepts it
)

// Connection is what a user may know about his own access.
type Connection struct {
	State    ConnectionState
	Account  string // as the host names the user; "" when it doesn't say
	Grant    string // "authorization_code", else the Method it came by
	Since    time.Time
	LastUsed time.Time // zero: never; kept to the hour
	// Methods are the ways to connect that this user has now, the best first.
	Methods []Method
	Refused *Refusal // why not the method that needs no act of his; nil = it was not refused lately
	// Declined tells that the user has disconnected what a method without an act of his would connect again.
	Declined bool
	Pending  *Pending // an account that waits for his word; nil = none does
}

// Pending is an account of the host that a user has signed in with and that is not connected before he has seen it.
type Pending struct {
	Account     string // its id at the host
	DisplayName string
	Email       string
	ExpiresAt   time.Time
}

// Begun is what connecting has come to.
type Begun struct {
	Connected    bool      // nothing is left to be done
	AuthorizeURL string    // the address to send the browser to (RFC 6749 4.1.1)
	LoginURL     string    // the same of a login flow, which does not come back to Mattermost...
	ExpiresAt    time.Time // ...and ends then
}

// Callback is what the sign-in server sent back with the browser (RFC 6749 4.1.2, RFC 9207).
type Callback struct {
	UserID string // the Mattermost user of the browser's session; "" when it has none
	HostID string // of the route; the use case has compared it
	State  string
	Code   string
	Issuer string // the iss parameter
	Error  string // the error parameter
}

// CallbackResult says how a callback ended.
type CallbackResult struct {
	Connected   bool
	ConfirmPage string // not connected yet: the handle of the page that shows the code to confirm with
}

// Confirmation is what the page of a callback without a session shows.
type Confirmation struct {
	BeganBy string // the Mattermost user id of who began the sign-in
	Code    string // to be typed in Mattermost by that user
}

// Connections connects and disconnects users. It is the other face of Tokens.
type Connections interface {
	Keeper
	// Connection tells the state of a user's access. It calls no one.
	Connection(ctx context.Context, userID string) (Connection, error)
	// Authorize begins an authorization code grant (RFC 6749 4.1) and returns the address to send the browser to.
	// Callback ends it.
	Authorize(ctx context.Context, userID string) (authorizeURL string, err error)
	// BeginLoginFlow begins a login flow, in place of one that is under way: LoginURL and ExpiresAt.
	BeginLoginFlow(ctx context.Context, userID string) (Begun, error)
	// Accept connects the account that is pending, or ends its access and forgets it. shown is the account that the user
	// has seen; "" = whichever waits. NotFound = none does; Conflict = another one does, and waits on.
	Accept(ctx context.Context, userID, shown string, accept bool) error
	// ConnectAutomatically connects by the method that needs no act of the user, whatever it refused before. It fails with
	// NotConnected when that method refuses him, and does nothing when he is connected.
	ConnectAutomatically(ctx context.Context, userID string) error
	// Callback ends an authorization code grant. Under another user's session it fails with Forbidden, unspent, for good;
	// without a session it keeps the code for Confirm. A used, expired, dropped or unknown state is InvalidRequest; after
	// too many failed sign-ins, Callback, Confirm and ConnectWithPassword are RateLimited.
	Callback(ctx context.Context, callback Callback) (CallbackResult, error)
	// Confirmation returns what the page with this handle shows, or NotFound.
	Confirmation(ctx context.Context, handle string) (Confirmation, error)
	// Confirm ends a grant whose callback came without a session. A wrong code is InvalidRequest.
	Confirm(ctx context.Context, userID, code string) error
	// ConnectWithPassword keeps an app password after the host has accepted it; else InvalidRequest.
	ConnectWithPassword(ctx context.Context, userID, username string, password Secret) error
	// Disconnect revokes what can be revoked and forgets the connection. It succeeds when there is none.
	Disconnect(ctx context.Context, userID string) error
	// EndSignIns ends what sign-ins a user has begun and not finished, and leaves a connection as it is.
	EndSignIns(ctx context.Context, userID string) error
}

// Accounts tells whose accounts of the host users of Mattermost have connected.
type Accounts interface {
	// AccountsOf returns the accounts of those of the users who are connected now, each by an account of his own, by user.
	AccountsOf(ctx context.Context, userIDs []string) (map[string]string, error)
}

// Issuer is the plugin as one who vouches for Mattermost's users to a sign-in server.
type Issuer interface {
	// JWKS returns the public keys that check what the plugin signs (RFC 7517 5), as JSON. They are good for an hour. It
	// changes nothing, and fails with NotFound where nothing is signed.
	JWKS(ctx context.Context) ([]byte, error)
	// ReplaceKeys puts new keys in the place of all there are, whether those can be read or not: nothing that they have
	// signed is good any more. It fails with NotFound where nothing is signed.
	ReplaceKeys(ctx context.Context) error
}

// Remote is the client of the file host. Every method may fail with CredentialRejected, Forbidden, NotFound, Conflict
// (locked, or still being processed), Unsupported, RateLimited, HostUnavailable, Maintenance or Timeout, and with
// NotConnected when the credential names no account where the host needs one.
type Remote interface {
	Thumbnails
	Shares
	Writes
	// Stat returns the entry at path.
	Stat(ctx context.Context, credential Credential, path Path) (Entry, error)
	// StatID returns the entry with an id that the host has given it, wherever it is by now. It fails with NotFound when the
	// user has no such entry, and with Unsupported when the host's ids don't survive rename and move.
	StatID(ctx context.Context, credential Credential, hostID string) (Entry, error)
	// List passes the entries of a folder to each, in the host's order, one by one as they arrive, and returns the folder
	// itself. It stops at each's first error and returns it. It fails with InvalidRequest when path is no folder. A
	// listing that ends early is an error, never a short listing, and so is one beyond what a client can hold (TooLarge).
	// An entry's texts may share memory with all that the answer says of it: who keeps many entries copies them.
	List(ctx context.Context, credential Credential, path Path, each func(Entry) error) (Entry, error)
	// ListPart lists like List, but a part of the folder in the host's own order. It calls begin once, before the first
	// entry. Where the host knows no parts, a part that begins a listing is the whole folder; else it never has more rows than
	// were asked for, nor fewer unless the listing ends. The folder itself is returned by the part that begins a listing
	// only. It fails with Changed when the host no longer keeps the listing.
	ListPart(ctx context.Context, credential Credential, path Path, part Part, begin Begin) (Entry, error)
	// Find passes the entries that match a query to each, in no order, and returns whether there are more than query.Most.
	// Beside what List fails with, it fails with Unsupported when the host has no such search or view.
	Find(ctx context.Context, credential Credential, query Query, each func(Entry) error) (truncated bool, err error)
	// Open starts reading a file whose entry Stat has returned, and fails with Changed when the host can tell that it is
	// another one by now. The caller closes the content. A read fails when no byte arrives for the configured time, or
	// when the content ends before its announced size.
	Open(ctx context.Context, credential Credential, entry Entry) (Content, error)
	// OpenFrom is Open without the bytes before an offset: Size is that of the rest. It fails with Unsupported when the
	// host gives no parts of files, or has nothing by which to tell that the rest is of the same file.
	OpenFrom(ctx context.Context, credential Credential, entry Entry, offset int64) (Content, error)
	// Account asks the host for the user's id there; "" when the host has no way to tell. It fails with
	// CredentialRejected when the host does not accept the credential.
	Account(ctx context.Context, credential Credential) (string, error)
	// Capabilities says what the host can do for a user. It is kept for minutes; what can't be asked for now is told as the
	// kind of host has it.
	Capabilities(ctx context.Context, credential Credential) Capabilities
	// Check calls the host without any credential and fails when it isn't there or isn't what it should be. The error's
	// Message is a remedy for the admin.
	Check(ctx context.Context) error
}

// Content is an open file of the host.
type Content struct {
	io.ReadCloser
	Size       int64     // bytes, as the host announced; -1 when it didn't
	ETag       string    // "" when the host sent none
	ModifiedAt time.Time // zero when the host didn't say
}

// User is a Mattermost user.
type User struct {
	ID       string
	Username string
	Admin    bool // system admin
	Bot      bool
	Active   bool
}

// Limits are the Mattermost server's own.
type Limits struct {
	FileSize       int64         // bytes
	FilesPerPost   int           // files that one post may have
	MessageLength  int           // characters (code points)
	ImagePixels    int64         // width x height; 0 = no limit
	RequestTimeout time.Duration // how long a request to a plugin may take, up and down
	TimeoutSetting string        // the setting of the server that RequestTimeout follows from, by its full name
}

// Upload is one file on its way into Mattermost.
type Upload struct {
	UserID    string // becomes the owner
	ChannelID string
	Name      string
	Size      int64 // bytes, exact
	Content   io.Reader
}

// FileInfo is a file in Mattermost's file store.
type FileInfo struct {
	ID        string // "" when there is no such file, or it was deleted
	UserID    string // who uploaded it
	ChannelID string
	PostID    string          // "" while no post has it
	JSON      json.RawMessage // as Mattermost's own API shows it
}

// StoredFile is an open file of Mattermost's file store.
type StoredFile struct {
	io.ReadCloser
	Name      string // as whoever uploaded it chose it
	Size      int64  // bytes
	MIMEType  string
	CreatedAt time.Time
}

// Post is a message with files, or with a card.
type Post struct {
	UserID    string
	ChannelID string
	RootID    string // "" outside a thread
	Message   string
	FileIDs   []string
	// PendingID lets Mattermost refuse a post while another of the same id is being created; "" = none.
	PendingID string
	// Card names what web clients show in place of the message, which tells the same; "" = it is shown as it is.
	Card string
}

// SeenPost is a post as it is at Mattermost.
type SeenPost struct {
	ID        string
	UserID    string
	ChannelID string
	RootID    string // "" outside a thread
	Message   string
	FileIDs   []string
	Card      bool // web clients show a card in its place; anybody can make such a post
}

// AppTokens makes and removes app tokens of a host that has them: passwords that it makes for one user, for a while.
type AppTokens interface {
	// MintAppToken makes one for a user of the host, by an account that may impersonate. name is the user's name or id
	// there, in full. It fails with NotFound when there is no such user, Forbidden when the host doesn't let the account do
	// this, Unsupported when it makes none, and CredentialRejected when it does not accept the account.
	MintAppToken(ctx context.Context, by Credential, name string, life time.Duration) (AppToken, error)
	// SweepAppTokens removes the expired ones that were made for the user of a credential.
	SweepAppTokens(ctx context.Context, credential Credential) error
	// AppTokenExpiry tells until when the one in a credential is good; zero = the host doesn't say, or it is none.
	AppTokenExpiry(ctx context.Context, credential Credential) (time.Time, error)
}

// HostUser is a user as the file host knows him.
type HostUser struct {
	ID          string // as its paths use it
	DisplayName string
	Email       string // "" when the host doesn't say
}

// Mattermost is the host of the plugin.
type Mattermost interface {
	// User returns a user, or NotFound.
	User(ctx context.Context, userID string) (User, error)
	// Identity returns what Mattermost vouches for of a user, or NotFound.
	Identity(ctx context.Context, userID string) (Identity, error)
	// MayAttach fails unless the user may post files there now: Forbidden, NotFound, or InvalidRequest for a root_id of
	// another channel.
	MayAttach(ctx context.Context, userID, channelID, rootID string) error
	// MayPost is MayAttach for a post without files.
	MayPost(ctx context.Context, userID, channelID, rootID string) error
	// MayRead fails with NotFound unless the user may read the channel's posts now.
	MayRead(ctx context.Context, userID, channelID string) error
	// Limits returns the limits in force.
	Limits(ctx context.Context) (Limits, error)
	// Upload streams a file into the file store. It holds a constant amount of memory. When Content fails or ends early it
	// fails; what may then be left behind of the file has an id that nobody is told.
	Upload(ctx context.Context, upload Upload) (FileInfo, error)
	// OpenFile opens a file that a post has, or one of the user's own, if Mattermost lets the user read it. It holds a
	// bounded amount of memory. It fails with NotFound for a file that is gone, or that another user has not posted yet, and
	// with Forbidden. The caller closes it.
	OpenFile(ctx context.Context, userID, fileID string) (StoredFile, error)
	// Files tells what is known of files, in the order of their ids. It may read a replica that lags behind.
	Files(ctx context.Context, fileIDs []string) ([]FileInfo, error)
	// Post creates the post with all its files, or none: of two posts with the same file at most one remains. With
	// Forbidden there is no post; with any other error there may be one.
	Post(ctx context.Context, post Post) (postID string, err error)
	// ReadPost returns a post, or NotFound for one that is deleted.
	ReadPost(ctx context.Context, postID string) (SeenPost, error)
	// FindCard looks for the user's post with a card among those of the channel since then: "" = there is none; gone = there
	// was one, which was deleted. It fails with Conflict when that can't be told.
	FindCard(ctx context.Context, post Post, since time.Time) (postID string, gone bool, err error)
	// Reword replaces a part of what a post says by another. It does nothing where the post doesn't say that any more.
	Reword(ctx context.Context, postID, old, new string) error
	// ChannelMembers returns at most so many active people of a channel, no bots, by user name, and whether there are more.
	ChannelMembers(ctx context.Context, channelID string, most int) (members []User, more bool, err error)
	// IsMember tells whether an active user is a member of the channel now.
	IsMember(ctx context.Context, userID, channelID string) (bool, error)
	// RemoveIncomplete removes what the user has posted in the channel since then with some of the files, but not all of
	// them, and tells whether such a post is gone. It fails with Conflict when there is one that has replies, which would
	// go with it, or when that can't be told. Call it for a post whose answer was lost, when the server has had the time to
	// end it.
	RemoveIncomplete(ctx context.Context, post Post, since time.Time) (removed bool, err error)
	// CheckUploads fails when copies can't be made, with a remedy for the admin as the error's Message, and with Degraded
	// when they can be made in a lesser way only.
	CheckUploads(ctx context.Context) error
	// ConnectionChanged tells the user's own web clients that his connection changed.
	ConnectionChanged(userID string)
	// Ask shows the dialog to the user whose press has the trigger id. It fails with InvalidRequest when that is none, or
	// too old.
	Ask(ctx context.Context, dialog Dialog) error
}

// Message is what the plugin's bot tells a user.
type Message struct {
	Text    string // Markdown; names that others chose are in it as literal writes them
	Buttons []Button
	Menus   []Menu
}

// Button lets the user who presses it call the plugin's route of an action.
type Button struct {
	Action string
	Label  string
	HostID string // which host the action is for
	Token  string // comes back with the press; "" = none
}

// Menu is a Button that has the user choose first. The value that he chose comes back with the press.
type Menu struct {
	Button
	Options []DialogOption
}

// Place is where a user has asked for something.
type Place struct {
	UserID    string
	ChannelID string
	RootID    string // "" outside a thread
}

// Answers shows a user messages that nobody else sees and that are kept nowhere.
type Answers interface {
	// Show shows a message.
	Show(ctx context.Context, place Place, message Message) error
	// Replace shows a message in the place of one that was shown before.
	Replace(ctx context.Context, place Place, postID string, message Message) error
}

// Bot is the plugin's own account at Mattermost.
type Bot interface {
	// Message sends a user a direct message and returns the id of the post. It fails with NotConfigured while there is no
	// account to send it as.
	Message(ctx context.Context, userID string, message Message) (postID string, err error)
	// Edit replaces what the post says, buttons included. It fails with NotFound unless the post is one that the bot has
	// sent to this user.
	Edit(ctx context.Context, userID, postID string, message Message) error
	// Check fails with Degraded when the bot can't send messages, with a remedy for the admin.
	Check(ctx context.Context) error
}

// Dialog asks a user one thing, in whichever client he uses.
type Dialog struct {
	TriggerID string // of the press that it answers; Mattermost has signed it
	Action    string // the route that takes the answer
	State     string // comes back with the answer; the client could change it
	Title     string // at most 24 characters
	Text      string // Markdown
	Field     DialogField
}

// DialogField is what is asked for.
type DialogField struct {
	Name        string
	Label       string
	Placeholder string
	Options     []DialogOption // none: a text
}

// DialogOption is one of several answers.
type DialogOption struct{ Value, Label string }

// KV is a store that all nodes share. Values are opaque bytes.
type KV interface {
	// Get returns the value, or nil. It may read a replica that lags behind: decide nothing on it that a
	// CompareAndSet doesn't confirm.
	Get(ctx context.Context, key string) ([]byte, error)
	// CompareAndSet writes value if the key still holds old (nil: if there is none) and tells whether it did. ttl 0 means
	// for ever.
	CompareAndSet(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error)
	// CompareAndDelete deletes the key if it still holds old and tells whether it did.
	CompareAndDelete(ctx context.Context, key string, old []byte) (bool, error)
	// List returns the keys that begin with prefix, in no order that means anything. It may read a replica, and what comes
	// or goes while it reads may be missing.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Sealer encrypts and authenticates what leaves the plugin and comes back. What was sealed opens only with the same
// associated data.
type Sealer interface {
	// Seal returns an opaque text for a URL.
	Seal(associated string, plain []byte) (string, error)
	// Open returns what Seal was given.
	Open(associated, sealed string) ([]byte, error)
}
