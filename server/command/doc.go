// Package command is the slash command: the same use cases as the API, for clients that load no plugin code. What it says
// is in words.go; who may do what, the use cases decide.
package command
