"""Work of verbs that no room does: the examination of this machine, the pages of the gallery."""
