#pragma once

// Included first by the host side of a file with relocatable device code (cupolac -rdc=true). The object then refers to
// a symbol that only the device link defines, so that a program whose device code was not linked fails to link, and
// says which file's.

#define CUPOLA_DEVICE_LINK_2(unit) cupolac_dlink_needed_by_##unit
#define CUPOLA_DEVICE_LINK(unit) CUPOLA_DEVICE_LINK_2(unit)

extern "C" __attribute__((visibility("hidden"))) const char CUPOLA_DEVICE_LINK(CUPOLA_DEVICE_UNIT);
__attribute__((used)) static const char* const cupola_device_link = &CUPOLA_DEVICE_LINK(CUPOLA_DEVICE_UNIT);

#undef CUPOLA_DEVICE_LINK
#undef CUPOLA_DEVICE_LINK_2
