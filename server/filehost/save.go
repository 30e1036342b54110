package filehost

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// OnConflict says what becomes of a file whose name another entry of the folder has.
type OnConflict string

// The ways out.
const (
	RenameNew  OnConflict = "rename"  // it gets a name of its own, as file managers make them
	ReplaceOld OnConflict = "replace" // it takes the place of the file that is there
	FailSave   OnConflict = "fail"
)

const (
	maxSavedName = 255 // bytes, which most file systems take
	renames      = 5   // names that are tried, when others take them meanwhile
)

// Saving asks for a file of Mattermost to be saved at the host.
type Saving struct {
	FileID   string
	Folder   Ref
	Name     string // "" = as Mattermost has it
	Conflict OnConflict
}

// Saved is what came of it.
type Saved struct {
	Entry   Entry
	Renamed bool // the name was taken
}

// Save saves a file of Mattermost that the user may read in a folder of the host. All that can be checked is checked
// before a byte moves, and nothing is replaced but what the user was told of as it was then.
func (s *Service) Save(ctx context.Context, userID string, saving Saving) (saved Saved, err error) {
	event := AuditEvent{Action: AuditSave}
	event.name(saving.Folder)
	err = s.using(ctx, event, func(ctx context.Context) error {
		limits, err := s.Mattermost.Limits(ctx)
		if err != nil {
			return err
		}
		saved, err = s.save(ctx, userID, saving)
		return inTime(ctx, limits, err)
	}, nil)
	return saved, err
}

func (s *Service) save(ctx context.Context, userID string, saving Saving) (Saved, error) {
	if saving.Name != "" {
		if err := checkNewName("name", saving.Name); err != nil {
			return Saved{}, err
		}
	}
	leave, err := s.Copies.Take(userID, s.Settings.CopiesPerUser, s.Settings.CopiesPerNode)
	if err != nil {
		return Saved{}, err
	}
	defer leave()
	file, err := s.openAttachment(ctx, userID, saving.FileID)
	if err != nil {
		return Saved{}, err
	}
	defer file.close()
	if file.Size > s.Settings.MaxCopyBytes {
		return Saved{}, &Error{Kind: TooLarge, Field: "file_id", Limit: s.Settings.MaxCopyBytes, LimitOwner: OwnerPlugin, Actual: file.Size,
			Message: fmt.Sprintf("The file has %d bytes; this plugin's settings allow %d.", file.Size, s.Settings.MaxCopyBytes)}
	}
	folder, err := s.folderToFill(ctx, userID, saving.Folder)
	if err != nil {
		return Saved{}, err
	}
	name := saving.Name
	if name == "" {
		name = savedName(file.Name)
	}
	return s.saveAs(ctx, userID, file, NewFile{Folder: folder.Path, Name: name}, saving.Conflict)
}

// folderToFill looks a folder up in which the user may make something.
func (s *Service) folderToFill(ctx context.Context, userID string, ref Ref) (Entry, error) {
	folder, err := s.stat(ctx, userID, ref)
	switch {
	case err != nil:
		return Entry{}, err
	case folder.Kind != Folder:
		return Entry{}, Invalid("folder", "folder is a file; name a folder.")
	case !slices.Contains(folder.Permissions, Create):
		return Entry{}, E(Forbidden, "You may look into this folder at "+s.Host.Name+", but add nothing to it.", nil)
	}
	return folder, nil
}

// saveAs saves the file under its new name, or one like it.
func (s *Service) saveAs(ctx context.Context, userID string, file *attachment, new NewFile, conflict OnConflict) (Saved, error) {
	folder, name := new.Folder, new.Name
	there, err := s.namesake(ctx, userID, folder, name)
	switch {
	case err != nil:
		return Saved{}, err
	case there != nil && conflict == FailSave:
		return Saved{}, s.nameTaken(name)
	case there != nil && conflict == ReplaceOld:
		if err = s.checkReplaced(*there); err != nil {
			return Saved{}, err
		}
	case there == nil || conflict == ReplaceOld:
	default:
		return s.saveRenamed(ctx, userID, file, folder, name)
	}
	new.Replaces = there
	entry, err := s.write(ctx, userID, file, new)
	if KindOf(err) == Conflict && conflict == RenameNew {
		if there, statErr := s.namesake(ctx, userID, folder, name); statErr == nil && there != nil { // it came meanwhile
			return s.saveRenamed(ctx, userID, file, folder, name)
		}
	}
	return Saved{Entry: entry}, err
}

// namesake is what the folder has under a name; nil = nothing.
func (s *Service) namesake(ctx context.Context, userID string, folder Path, name string) (*Entry, error) {
	path, ok := folder.Join(name)
	if !ok {
		return nil, Invalid("name", "No file can have this name.")
	}
	entry, err := s.stat(ctx, userID, Ref{Path: path})
	switch {
	case KindOf(err) == NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &entry, nil
}

func (s *Service) nameTaken(name string) error {
	return &Error{Kind: Conflict, Field: "name", Message: s.Host.Name + " already has a file or folder of this name there.",
		Err: fmt.Errorf("%q is taken", name)}
}

func (s *Service) checkReplaced(there Entry) error {
	switch {
	case there.Kind != File:
		return &Error{Kind: Conflict, Field: "name", Message: "There is a folder of this name at " + s.Host.Name + ", which a file can't replace."}
	case !slices.Contains(there.Permissions, Write):
		return E(Forbidden, "You may not change the file of this name at "+s.Host.Name+".", nil)
	}
	return nil
}

// saveRenamed saves the file under the first name of its kind that is behind all that are there.
func (s *Service) saveRenamed(ctx context.Context, userID string, file *attachment, folder Path, name string) (Saved, error) {
	stem, extension := splitName(name)
	if longest := maxSavedName - len(extension) - len(" (2147483647)"); len(stem) > longest {
		stem = cutUTF8(stem, longest)
	}
	last, err := s.lastNumber(ctx, userID, folder, stem, extension)
	if err != nil {
		return Saved{}, err
	}
	for number := last + 1; number <= last+renames; number++ {
		entry, err := s.write(ctx, userID, file, NewFile{Folder: folder, Name: numbered(stem, extension, number)})
		if KindOf(err) != Conflict {
			return Saved{Entry: entry, Renamed: true}, err
		}
	}
	return Saved{}, s.nameTaken(name)
}

// lastNumber is the highest number of a name in the folder, at least 1. A listing streams through, and one number is kept.
func (s *Service) lastNumber(ctx context.Context, userID string, folder Path, stem, extension string) (last int, err error) {
	err = s.asUser(ctx, userID, func(credential Credential) error {
		last = 1
		_, err := s.Remote.List(ctx, credential, folder, func(entry Entry) error {
			last = max(last, numberOf(entry.Path.Name(), stem, extension))
			return nil
		})
		return err
	})
	return last, err
}

// splitName splits a name before its extension. A name that begins with its only dot has none.
func splitName(name string) (stem, extension string) {
	extension = path.Ext(name)
	if stem = strings.TrimSuffix(name, extension); stem == "" || len(extension) > maxSavedName/2 {
		return name, ""
	}
	return stem, extension
}

// numbered is a name such as "report (2).pdf".
func numbered(stem, extension string, number int) string {
	return stem + " (" + strconv.Itoa(number) + ")" + extension
}

// numberOf reads the number of such a name; 0 = it is none, or one that can't be counted on from.
func numberOf(name, stem, extension string) int {
	middle, isOne := strings.CutSuffix(name, ")"+extension)
	digits, begins := strings.CutPrefix(middle, stem+" (")
	if !isOne || !begins || strings.HasPrefix(digits, "0") || strings.HasPrefix(digits, "+") {
		return 0
	}
	number, err := strconv.Atoi(digits)
	if err != nil || number < 0 || number >= math.MaxInt32-renames {
		return 0
	}
	return number
}

// savedName turns Mattermost's name of a file into one for a host.
func savedName(name string) string {
	name = strings.TrimSpace(StoredName(name))
	if _, ok := Root.Join(name); !ok {
		return "file"
	}
	return name
}

// checkNewName refuses the names that no host should have.
func checkNewName(field, name string) error {
	_, ok := Root.Join(name)
	switch {
	case len(name) > maxSavedName:
		return &Error{Kind: InvalidRequest, Field: field, Limit: maxSavedName, Message: "A name has at most 255 bytes."}
	case !ok || strings.Contains(name, `\`):
		return Invalid(field, `No file can have this name: it is "." or "..", or holds a slash or a backslash.`)
	case !Shown(name, maxSavedName) || strings.TrimSpace(name) != name:
		return Invalid(field, "The name holds characters that can't be seen, or begins or ends with a space.")
	}
	return nil
}

// write sends the file to the host. What was opened last is used if nothing was read of it.
func (s *Service) write(ctx context.Context, userID string, file *attachment, new NewFile) (entry Entry, err error) {
	err = s.asUser(ctx, userID, func(credential Credential) error {
		if err := file.rewind(ctx); err != nil {
			return err
		}
		new.Size, new.MIMEType, new.ModifiedAt, new.Content = file.Size, file.MIMEType, file.CreatedAt, file
		var err error
		entry, err = s.Remote.Write(ctx, credential, new)
		return err
	})
	return entry, err
}

// attachment is a file of Mattermost that can be read more than once, by being opened anew.
type attachment struct {
	StoredFile
	open func(context.Context) (StoredFile, error)
	read bool
}

func (s *Service) openAttachment(ctx context.Context, userID, fileID string) (*attachment, error) {
	a := &attachment{open: func(ctx context.Context) (StoredFile, error) { return s.Mattermost.OpenFile(ctx, userID, fileID) }}
	var err error
	a.StoredFile, err = a.open(ctx)
	return a, err
}

// Read implements io.Reader.
func (a *attachment) Read(buffer []byte) (int, error) {
	a.read = true
	return a.StoredFile.Read(buffer)
}

func (a *attachment) close() { _ = a.Close() } // it was read to its end, or another error is on its way

// rewind opens the file anew if something was read of it: its permission is asked for again, and it must be the same.
func (a *attachment) rewind(ctx context.Context) error {
	if !a.read {
		return nil
	}
	a.close()
	size := a.Size
	anew, err := a.open(ctx)
	if err != nil {
		return err
	}
	a.StoredFile, a.read = anew, false
	if a.Size != size {
		return E(Changed, "The file changed while it was saved; try again.", nil)
	}
	return nil
}
