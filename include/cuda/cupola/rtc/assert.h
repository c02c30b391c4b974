#pragma once

// Code that is compiled at run time has built in what device code has of <assert.h>.
