#include "default_folder.h"

const char cupola_default_library_folder[] = CUPOLA_FOLDER;
