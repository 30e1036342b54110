package filehosttest

// Process is a filehost.Process that knows of those that have ended what it is told.
type Process struct {
	Name string
	Ends map[string]bool // by name
}

// ID implements filehost.Process.
func (p Process) ID() string { return p.Name }

// Ended implements filehost.Process.
func (p Process) Ended(id string) bool { return p.Ends[id] }
