# Debian packages: cmake --build … && cpack --config BUILD/CPackConfig.cmake makes c63 (the programs) and libc63-dev.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME c63)
set(CPACK_PACKAGE_VENDOR c63)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(C63_PACKAGE_MAINTAINER "c63 <c63@noreply.invalid>" CACHE STRING "Who makes packages: name and mail address")
set(CPACK_PACKAGE_CONTACT ${C63_PACKAGE_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL Programs Development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME c63)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION video)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "encoder and decoder for Codec63, with tools to measure
 Encodes video for Codec63, the small codec of a university course on
 heterogeneous architectures, and decodes, compares, filters and looks at it.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libc63-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(c63_development_needs libtbb-dev)
if(C63_HAVE_FFMPEG)
  list(APPEND c63_development_needs libavformat-dev libavcodec-dev libavutil-dev libswscale-dev)
endif()
list(JOIN c63_development_needs ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "library of the Codec63 encoder and decoder
 Headers, the static library, a CMake package and a pkg-config file for
 programs that encode or decode Codec63, search motion, or filter.")

# What Debian wants of every package: a copyright, a changelog, compressed manual pages.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_files.cmake)
set(CPACK_C63_SOURCE_DIR ${PROJECT_SOURCE_DIR})
include(CPack)
