package filehost

// Command is what a user has typed behind the slash command.
type Command struct {
	Place
	Text      string // all that was typed, the command's own name included
	TriggerID string // lets a dialog be shown
}

// Press is a press of a button, or a choice from a menu, of what answered a Command. But for UserID all of it is the
// client's word: only what Token holds was made by the plugin, for that user.
type Press struct {
	UserID    string
	ChannelID string
	PostID    string // of the message with the button
	TriggerID string
	Token     string
	Selected  string // from a menu
}

// Suggestion completes what a user is typing.
type Suggestion struct {
	Text string // the whole of the command's arguments
	Help string
}
