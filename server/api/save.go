package api

import (
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

type saveBody struct {
	FileID   string `json:"file_id"`
	Folder   string `json:"folder"`
	FolderID string `json:"folder_id"`
	Name     string `json:"name"`
	Conflict string `json:"conflict"`
	Host     string `json:"host"`
}

type savedBody struct {
	Entry   entryBody `json:"entry"`
	Renamed bool      `json:"renamed,omitempty"`
}

type folderBody struct {
	Path     string `json:"path"`
	ParentID string `json:"parent_id"`
	Name     string `json:"name"`
	Host     string `json:"host"`
}

// save serves POST /save.
func (h *Handler) save(r *request) (response, error) {
	body := saveBody{Conflict: string(filehost.RenameNew)}
	if err := decodeBody(r, &body); err != nil {
		return response{}, err
	}
	saving, err := body.read(r)
	if err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Host)
	if err != nil {
		return response{}, err
	}
	saved, err := service.Save(r.ctx, r.userID, saving)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusCreated, body: savedBody{newEntry(service.Host, saved.Entry), saved.Renamed}}, nil
}

func (b *saveBody) read(r *request) (filehost.Saving, error) {
	saving := filehost.Saving{FileID: b.FileID, Name: b.Name, Conflict: filehost.OnConflict(b.Conflict)}
	switch saving.Conflict {
	case filehost.RenameNew, filehost.ReplaceOld, filehost.FailSave:
	default:
		return saving, filehost.Invalid("conflict", "conflict must be rename, replace or fail.")
	}
	if err := refuseKey(r); err != nil {
		return saving, err
	}
	var err error
	switch {
	case b.FileID == "":
		return saving, filehost.Invalid("file_id", "file_id must be the id of a file.")
	case b.Folder != "" && b.FolderID != "", b.Folder == "" && b.FolderID == "":
		return saving, filehost.Invalid("folder", "Give either folder, a path, or folder_id.")
	case b.FolderID != "":
		saving.Folder, err = filehost.ParseRef("folder_id", b.FolderID)
	default:
		saving.Folder.Path, err = filehost.ParsePath("folder", b.Folder)
	}
	return saving, err
}

// refuseKey refuses what a caller relies on and doesn't get: a save that is sent again is done again.
func refuseKey(r *request) error {
	if len(r.Header.Values("Idempotency-Key")) == 0 {
		return nil
	}
	return &filehost.Error{Kind: filehost.Unsupported, Field: "Idempotency-Key",
		Message: "This route keeps no keys; send what you may have to repeat with a name and conflict: fail."}
}

// makeFolder serves POST /folders.
func (h *Handler) makeFolder(r *request) (response, error) {
	var body folderBody
	if err := decodeBody(r, &body); err != nil {
		return response{}, err
	}
	folder, err := body.read(r)
	if err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Host)
	if err != nil {
		return response{}, err
	}
	entry, err := service.MakeFolder(r.ctx, r.userID, folder)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusCreated, body: newEntry(service.Host, entry)}, nil
}

func (b *folderBody) read(r *request) (folder filehost.NewFolder, err error) {
	if err = refuseKey(r); err != nil {
		return folder, err
	}
	switch {
	case (b.Path == "") == (b.ParentID == ""):
		return folder, filehost.Invalid("path", "Give either the path of the new folder, or parent_id and name.")
	case b.ParentID != "":
		folder.Name = b.Name
		folder.Parent, err = filehost.ParseRef("parent_id", b.ParentID)
		return folder, err
	case b.Name != "":
		return folder, filehost.Invalid("name", "name goes with parent_id; path has the name in it.")
	}
	path, err := filehost.ParsePath("path", b.Path)
	if err == nil && path.IsRoot() {
		err = filehost.Invalid("path", "The top folder is there already.")
	}
	return filehost.NewFolder{Parent: filehost.Ref{Path: path.Parent()}, Name: path.Name()}, err
}
