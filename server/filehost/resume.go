package filehost

import (
	"context"
	"slices"
)

// The actions behind the buttons of a reminder, and behind the dialogs that they open.
const (
	ActionConnect = "connect"
	ActionCode    = "code"
	ActionConfirm = "confirm"
	ActionAccount = "account"
)

// The field of the dialog about an account, and its answers.
const (
	FieldAccount  = "account"
	AccountMine   = "mine"
	AccountOthers = "others"
)

// FieldCode is the field of the dialog for a code.
const FieldCode = "code"

// Resume begins the sign-in of a user who has pressed the button of a reminder, and returns what to tell him, as Markdown.
// It is his own sign-in, whoever the reminder was for, by the best method that is one: the others need no button. An
// account that waits for his word is shown instead, in a dialog.
func (s *Service) Resume(ctx context.Context, userID, triggerID string) (string, error) {
	connection, err := s.Connection(ctx, userID)
	switch {
	case err != nil:
		return "", err
	case connection.Pending != nil:
		return "", s.askAccount(ctx, triggerID, *connection.Pending)
	}
	method := connection.Methods[0]
	if i := slices.IndexFunc(connection.Methods, func(m Method) bool { return !m.Automatic() }); i >= 0 {
		method = connection.Methods[i]
	}
	host := literal(s.Host.Name)
	if method == MethodPassword {
		return "To connect " + host + ", open Mattermost in a browser or the desktop app. Press the paperclip below a message, choose " + host +
			", and enter your user name there and an app password.", nil
	}
	begun, err := s.Begin(ctx, userID, method)
	switch {
	case err != nil:
		return "", err
	case begun.Connected:
		return "You are connected to " + host + ".", nil
	case begun.LoginURL != "":
		return "[Sign in](" + linkable(begun.LoginURL) + ") to connect " + host + ". The link is for you alone, and good for twenty minutes. " +
			"Then come back and press “Connect again” once more to confirm the account.", nil
	}
	return "[Sign in](" + linkable(begun.AuthorizeURL) + ") to connect " + host + ". The link is for you alone, and good for ten minutes. " +
		"If the page at its end shows a code, press “Enter a code” above and type it there.", nil
}

// AskCode shows the user whose press has the trigger id where to type the code of a sign-in whose browser had no Mattermost
// session: the browsers that mobile and desktop apps open have none, and mobile apps no other place for it.
func (s *Service) AskCode(ctx context.Context, triggerID string) error {
	return s.Mattermost.Ask(ctx, Dialog{TriggerID: triggerID, Action: ActionConfirm, State: s.Host.ID, Title: "Enter a code",
		Text:  "Type the code that the page at the end of your sign-in shows. Type none that somebody else has sent you.",
		Field: DialogField{Name: FieldCode, Label: "Code", Placeholder: "ABCD-EFGH"}})
}

// askAccount shows a user the account that he has signed in with. Which one comes back with the answer.
func (s *Service) askAccount(ctx context.Context, triggerID string, pending Pending) error {
	text := "You have signed in to " + literal(s.Host.Name) + " as " + literal(pending.Account)
	for _, more := range []string{pending.DisplayName, pending.Email} {
		if more != "" {
			text += ", " + literal(more)
		}
	}
	return s.Mattermost.Ask(ctx, Dialog{TriggerID: triggerID, Action: ActionAccount, State: s.Host.ID + " " + pending.Account, Title: "Connect this account?",
		Text: text + ". Is that your own account?",
		Field: DialogField{Name: FieldAccount, Label: "Account", Options: []DialogOption{
			{AccountMine, "It is mine: connect it"}, {AccountOthers, "It is not mine: forget it"}}}})
}
